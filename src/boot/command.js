// Runs the programs that prepare, check and test this repository.

import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The absolute path of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The time in which a program must end after a signal; milliseconds. */
export const TERMINATION_TIMEOUT_MS = 5000;

/** The environment of all programs. The installed programs come first on PATH. */
export const environment = () => ({
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
});

/** How many programs run now. */
let running = 0;

/**
 * Runs a program in the repository and waits for its end. It has no standard input.
 *
 * A termination signal to this process is forwarded, and the end of the program awaited. Otherwise the program would
 * continue to write while the next start prepares the same directory.
 * @param {string} command
 * @param {string[]} args
 * @param {object} [options]
 * @param {'inherit' | 'stderr' | 'held' | 'dropped' | ((output: string) => void)} [options.output] `stderr`: standard output goes
 *   to standard error, too; `held`: the output is printed only when the program fails; a function gets it at the end.
 * @param {Record<string, string>} [options.env] variables in addition to the environment.
 * @param {string} [options.cwd] the working directory; the repository when left out.
 * @returns {Promise<number>} its exit code.
 */
export function run(command, args, { output = 'inherit', env = {}, cwd = root } = {}) {
  running++;
  let ending = false;
  const end = () => {
    ending = true;
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), TERMINATION_TIMEOUT_MS).unref();
  };
  // The handlers are installed before the program starts, so that no signal is missed.
  for (const signal of SIGNALS) process.on(signal, end);

  const to =
    typeof output === 'function' ? 'pipe' : { inherit: 'inherit', stderr: 2, held: 'pipe', dropped: 'ignore' }[output];
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
      running--;
      if (ending) {
        if (running === 0) process.exit(130);
        return; // The last program that ends will end this process.
      }
      if (output === 'held' && code !== 0) process.stderr.write(Buffer.concat(chunks));
      if (typeof output === 'function') output(Buffer.concat(chunks).toString());
      done(code ?? 1);
    });
  });
}

/** The signals that terminate a process. */
export const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
