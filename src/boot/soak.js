// `npm run soak -- NAME` runs test/soak/NAME.test.ts, or the tests in test/soak/NAME: the long rounds of a proof.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chosen } from './chosen.js';
import { root } from './command.js';
import { prepare } from './prepare.js';
import { runTests } from './tests.js';

await prepare();
const name = chosen('soak test', 'test/soak', (entry) => entry.match(/^([\w-]+)(\.test\.ts)?$/)?.[1]);
const file = `test/soak/${name}.test.ts`;
const filter = existsSync(join(root, file)) ? file : `test/soak/${name}/`;
// These are all over the tests: vitest.config.ts has their list, by which `npm test` leaves them out.
const filters = name === 'long' ? [] : [filter];
await runTests([...filters, ...process.argv.slice(3)], { env: { SOAK: name } });
