// `npm run bench -- NAME` runs test/bench/NAME/main.js.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chosen, runModule } from './chosen.js';
import { root } from './command.js';
import { prepare } from './prepare.js';

await prepare();
const name = chosen('benchmark', 'test/bench', (entry) =>
  existsSync(join(root, 'test/bench', entry, 'main.js')) ? entry : undefined,
);
await runModule(`test/bench/${name}/main.js`);
