// `npm run check`: the static checks: types, format, lint, and generated files that must be current.

import { run } from './command.js';
import { prepare } from './prepare.js';

/** @type {[string, string, ...string[]][]} */
const steps = [
  ['types of the source', 'tsc', '--noEmit', '-p', 'tsconfig.json'],
  ['types of the agent', 'tsc', '-p', 'agent/tsconfig.json'],
  ['types of the tests', 'tsc', '-p', 'test/tsconfig.json'],
  ['operations of the dashboard', process.execPath, 'src/dashboard/codegen.js'],
  ['types of the dashboard', 'tsc', '-p', 'src/dashboard'],
  ['format and lint', 'biome', 'ci', ...(process.stdout.isTTY ? [] : ['--colors=off']), '.'],
  ['schema.graphql is current', process.execPath, 'dist/tools/schema.js', '--check'],
];

// Type errors do not stop the preparation, as the steps below report them.
await prepare({ dev: true });
for (const [name, command, ...args] of steps) {
  const code = await run(command, args);
  process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}\n`);
  if (code !== 0) process.exitCode = 1;
}
