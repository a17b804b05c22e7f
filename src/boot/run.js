// `npm run backup` and its like: a tool of src/tools, by name, with the arguments after it.

import { chosen, runModule } from './chosen.js';
import { prepare } from './prepare.js';

await prepare({ onlyToRun: true, onlyCompiled: process.argv[2] === 'schema' });
const name = chosen('tool', 'dist/tools', (entry) => entry.match(/^([\w-]+)\.js$/)?.[1]);
await runModule(`dist/tools/${name}.js`);
