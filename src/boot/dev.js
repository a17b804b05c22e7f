// `npm run dev`: compiles and builds after each change, and restarts the gateway.

import { spawn } from 'node:child_process';
import { environment, root, SIGNALS, TERMINATION_TIMEOUT_MS } from './command.js';
import { prepare } from './prepare.js';

await prepare({ dev: true });

// Each program has its own process group, as some have child processes, which would survive their parent.
const children = [
  start('tsc', ['--watch', '--preserveWatchOutput']),
  start(process.execPath, ['src/dashboard/watch.js']),
  start(process.execPath, ['--watch', '--watch-preserve-output', 'dist/main.js']),
];
let ending = false;
for (const signal of SIGNALS) process.on(signal, end);

/**
 * @param {string} command
 * @param {string[]} args
 */
function start(command, args) {
  // The drain is short, so that a restart does not wait for open requests of a browser.
  const env = { DRAIN_MS: '500', ...environment() };
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  child.on('error', (error) => process.stderr.write(`${command}: ${error.message}\n`));
  child.on('exit', () => {
    killGroup(child.pid);
    end();
  });
  return child;
}

/** Ends all programs when one of them ends, or after a signal. This process then ends by itself. */
function end() {
  if (ending) return;
  ending = true;
  for (const child of children) child.kill('SIGTERM');
  setTimeout(() => {
    for (const { pid } of children) killGroup(pid);
  }, TERMINATION_TIMEOUT_MS).unref();
}

/** @param {number | undefined} pid */
function killGroup(pid) {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group has already ended.
  }
}
