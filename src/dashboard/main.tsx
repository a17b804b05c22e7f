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
import './style/chart.css';
import './style/history.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { captureSignInToken } from './data/session/sign-in-token.ts';
import { captureSingleSignOn } from './data/session/single-sign-on.ts';
import { applyTheme } from './shell/theme.ts';
import { holdWhilePressed } from './ui/feedback/hold-while-pressed.ts';
import { showHiddenCharacters } from './ui/text/visible-text.ts';
import { guardNavigation } from './ui/unsaved/guard-navigation.ts';

// These run first: what signs in has to leave the URL before other code can read it.
captureSignInToken();
captureSingleSignOn();
applyTheme();
holdWhilePressed();
showHiddenCharacters();
guardNavigation();

const root = document.getElementById('app');
if (root) render(<App />, root);
