// `npm run dev`: compiles and builds what is saved, and starts the gateway again.

import { spawn } from 'node:child_process';
import { END_MS, environment, root, SIGNALS } from './command.js';
import { prepare } from './prepare.js';

await prepare({ dev: true });

// Each has a group of its own, as some work through a child, which outlives them when only they are ended.
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
  // A restart should not wait for the requests of a browser tab.
  const env = { DRAIN_MS: '500', ...environment() };
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  child.on('error', (error) => process.stderr.write(`${command}: ${error.message}\n`));
  child.on('exit', () => {
    killGroup(child.pid);
    end();
  });
  return child;
}

/** When one of them ends, or we are to, all do. This process ends by itself once they are gone. */
function end() {
  if (ending) return;
  ending = true;
  for (const child of children) child.kill('SIGTERM');
  setTimeout(() => {
    for (const { pid } of children) killGroup(pid);
  }, END_MS).unref();
}

/** @param {number | undefined} pid */
function killGroup(pid) {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it is gone already.
  }
}
