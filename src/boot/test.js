// `npm test`: runs every test that this machine supports. With `--budget` it fails when they cost too much. Further arguments go to
// vitest.

import { prepare } from './prepare.js';
import { printSummaryAtExit, runTests } from './tests.js';

printSummaryAtExit();
await prepare();
const args = process.argv.slice(2);
await runTests(
  args.filter((arg) => arg !== '--budget'),
  { repeatsFailed: true, hasBudget: args.includes('--budget') },
);
