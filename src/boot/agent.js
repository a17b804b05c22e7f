// `npm run agent -- http 3000`: the device agent, bundled from this checkout and run in this very process, so that
// signals reach it and its end is ours.

import { prepare } from './prepare.js';

await prepare({ onlyToRun: true });
// Named by a URL made here: the bundle is not there when this one is type checked.
await import(new URL('../../agent/dist/agent.js', import.meta.url).href);
