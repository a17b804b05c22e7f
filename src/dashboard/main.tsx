// Starts the dashboard in the page.

import './style/base.css';
import './style/shell.css';
import './style/alone.css';
import './style/page.css';
import './style/controls.css';
import './style/form.css';
import './style/table.css';
import './style/dialog.css';
import './style/marks.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { captureSignInToken } from './data/session/sign-in-token.ts';
import { applyTheme } from './shell/theme.ts';

// First of all, before anything could read or keep the address.
captureSignInToken();
applyTheme();

const root = document.getElementById('app');
if (root) render(<App />, root);
