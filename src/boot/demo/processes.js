// The processes of a demo, which runs in one terminal, and a directory for what they keep.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root, TERMINATION_TIMEOUT_MS } from '../command.js';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

export class Processes {
  /** A temporary directory, which is removed at the end. */
  directory = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
  /** @type {ChildProcess[]} */
  #children = [];

  /**
   * Runs a file of the repository with Node. Its errors go to the terminal.
   * @param {string} file
   * @param {string[]} args
   * @param {Record<string, string>} env
   */
  start(file, args, env) {
    return this.run(process.execPath, [join(root, file), ...args], env);
  }

  /**
   * Runs a program.
   * @param {string} command
   * @param {string[]} args
   * @param {Record<string, string>} [env]
   */
  run(command, args, env = {}) {
    const child = spawn(command, args, {
      cwd: this.directory,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#children.push(child);
    return child;
  }

  /** Ends all of them, the last one first, and removes the directory. */
  async end() {
    for (const child of this.#children.splice(0).reverse()) {
      if (hasEnded(child)) continue;
      child.kill('SIGTERM');
      const deadline = setTimeout(() => child.kill('SIGKILL'), TERMINATION_TIMEOUT_MS);
      await once(child, 'exit');
      clearTimeout(deadline);
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Whether it runs no longer, or never did. @param {ChildProcess} child */
export const hasEnded = ({ pid, exitCode, signalCode }) =>
  pid === undefined || exitCode !== null || signalCode !== null;

/**
 * @param {ChildProcess} child
 * @param {RegExp} pattern
 * @returns {Promise<string[]>} what it printed, up to the line that matches.
 */
export async function linesUntil(child, pattern) {
  const lines = [];
  if (!child.stdout) throw new Error('nothing to read');
  const reader = createInterface({ input: child.stdout });
  for await (const line of reader) {
    lines.push(line);
    if (pattern.test(line)) return lines;
  }
  throw new Error(`ended after: ${lines.join('\n')}`);
}

/** @param {string} text */
export function step(text) {
  process.stdout.write(`\n${text}\n`);
}

/** @param {string} text */
export function say(text) {
  process.stdout.write(`  ${text}\n`);
}
