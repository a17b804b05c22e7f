// `npm run check`: the static checks: types, format, lint, and generated files that must be current.

import { availableParallelism } from 'node:os';
import { run } from './command.js';
import { prepare } from './prepare.js';

// Programs write to a pipe, also at a terminal.
const isTerminal = process.stdout.isTTY === true;
const tsc = /** @type {const} */ (['tsc', '--pretty', String(isTerminal)]);
// Each checker works out anew most of what the others do: with the four that are usual it takes half as much CPU time again.
const checkers = String(Math.max(1, Math.floor(availableParallelism() / 2)));

/** @typedef {[string, string, ...string[]]} Step */

/**
 * These run side by side, and the steps of each one after another: types need the operations.
 * @type {Step[][]}
 */
const lanes = [
  [
    ['operations of the dashboard', process.execPath, 'src/dashboard/codegen.js'],
    ['types of the dashboard', ...tsc, '-p', 'src/dashboard'],
    ['types of the source and the tests', ...tsc, '-p', 'test/tsconfig.json', '--checkers', checkers],
  ],
  [
    ['format and lint', 'biome', 'ci', `--colors=${isTerminal ? 'force' : 'off'}`, '.'],
    ['schema.graphql is current', process.execPath, 'dist/tools/schema.js', '--check'],
    ['types of the agent', ...tsc, '-p', 'agent/tsconfig.json'],
  ],
];

/** @param {Step} step */
async function take([name, command, ...args]) {
  let output = '';
  const code = await run(command, args, {
    output: (text) => {
      output = text;
    },
  });
  return { name, code, output };
}

// Type errors do not stop the preparation, as the steps below report them.
await prepare({ dev: true, onlyCompiled: true });
const results = lanes.flatMap((lane) => {
  /** @type {Promise<unknown>} */
  let before = Promise.resolve();
  return lane.map((step) => {
    const result = before.then(() => take(step));
    before = result;
    return result;
  });
});
for (const result of results) {
  const { name, code, output } = await result;
  process.stdout.write(`${output}${code === 0 ? 'ok    ' : 'FAILED'} ${name}\n`);
  if (code !== 0) process.exitCode = 1;
}
