// Running the programs that prepare, check and test this repository.

import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository, absolute. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** How long a program may take to end once it was asked to. */
export const END_MS = 5000;

/** The environment of every program started here: the installed programs come first on PATH. */
export const environment = () => ({
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
});

/**
 * Runs a program in the repository to its end, without standard input.
 *
 * A signal that asks this process to end is passed on and waited for: left alone, the program would go on writing
 * while the next start prepares the same directory.
 * @param {string} command
 * @param {string[]} args
 * @param {object} [options]
 * @param {'inherit' | 'stderr' | 'held' | 'dropped'} [options.output] `stderr`: standard output goes there too;
 *   `held`: shown there only if the program fails.
 * @param {Record<string, string>} [options.env] on top of the usual environment.
 * @param {string} [options.cwd] the repository, unless told otherwise.
 * @returns {Promise<number>} its exit code.
 */
export function run(command, args, { output = 'inherit', env = {}, cwd = root } = {}) {
  let ending = false;
  const end = () => {
    ending = true;
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), END_MS).unref();
  };
  // Before there is a program that could be left alone.
  for (const signal of SIGNALS) process.on(signal, end);

  const held = output === 'held';
  const to = { inherit: 'inherit', stderr: 2, held: 'pipe', dropped: 'ignore' }[output];
  const child = spawn(command, args, {
    cwd,
    env: { ...environment(), ...env },
    stdio: /** @type {import('node:child_process').StdioOptions} */ (['ignore', to, output === 'stderr' ? 2 : to]),
  });
  /** @type {Buffer[]} */
  const chunks = [];
  child.stdout?.on('data', (chunk) => chunks.push(chunk));
  child.stderr?.on('data', (chunk) => chunks.push(chunk));

  return new Promise((done) => {
    child.on('error', (error) => {
      process.stderr.write(`${command}: ${error.message}\n`);
      done(127);
    });
    child.on('close', (code) => {
      for (const signal of SIGNALS) process.off(signal, end);
      if (ending) process.exit(130);
      if (held && code !== 0) process.stderr.write(Buffer.concat(chunks));
      done(code ?? 1);
    });
  });
}

/** What asks a process to end. */
export const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
