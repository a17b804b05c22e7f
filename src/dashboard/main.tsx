// The entry point of the dashboard.

import './style/base.css';
import './style/shell.css';
import './style/standalone.css';
import './style/page.css';
import './style/controls.css';
import './style/form.css';
import './style/table.css';
import './style/dialog.css';
import './style/feedback.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { captureSignInToken } from './data/session/sign-in-token.ts';
import { applyTheme } from './shell/theme.ts';

// This runs first: the token has to leave the URL before other code can read it.
captureSignInToken();
applyTheme();

const root = document.getElementById('app');
if (root) render(<App />, root);
