// `npm run build`: installs, generates and compiles everything that is not up to date.

import { prepare } from './prepare.js';

await prepare();
