// `npm run build`: installs, generates and compiles what is not up to date.

import { prepare } from './prepare.js';

await prepare();
