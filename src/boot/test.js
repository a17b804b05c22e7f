// `npm test`: runs every test that this machine supports. Further arguments go to vitest.

import { prepare } from './prepare.js';
import { printSummaryAtExit, runTests } from './tests.js';

printSummaryAtExit();
await prepare();
await runTests(process.argv.slice(2), { repeatsFailed: true });
