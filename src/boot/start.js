// `npm start`. The gateway runs in this very process, so that signals reach it and its end is ours.

import { prepare } from './prepare.js';

await prepare({ onlyToRun: true });
// Named by a URL made here: the bundle is not there when this one is type checked.
await import(new URL('../../dist/bundle/main.js', import.meta.url).href);
