// `npm run agent -- http 3000`: runs the device agent, bundled from this checkout. It runs in this process, so that it
// gets the signals and sets the exit code.

import { prepare } from './prepare.js';

await prepare({ onlyToRun: true });
// The URL is computed, as the bundle does not exist when this file is type-checked.
await import(new URL('../../agent/dist/agent.js', import.meta.url).href);
