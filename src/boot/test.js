// `npm test`: every test that can run here. Further arguments go to vitest.

import { prepare } from './prepare.js';
import { printSummaryAtExit, runTests } from './tests.js';

printSummaryAtExit();
await prepare();
await runTests(process.argv.slice(2));
