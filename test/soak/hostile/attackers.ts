// Starts attackers as processes of their own, and stops them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { bundle } from '../../support/bundle.ts';
import { root } from '../../support/root.ts';
import type { Counts, Target } from './attack.ts';

/** An attacker that does not give back what it opened is ended then; milliseconds. */
const END_MS = 30_000;
const NAME = 'attacker.js';
const program = join(root, 'dist/soak', NAME);

/** The attacker and its attacks become one file. */
export async function buildAttacker(): Promise<void> {
  await bundle('test/soak/hostile/attacker.ts', NAME);
}

export interface Attacker {
  /** The attacks begin. */
  begin(): void;
  /** @returns what each attack counted; `crashed` where it ended without a count, or did not end in time. */
  stop(): Promise<Record<string, Counts>>;
}

/**
 * Starts an attacker, and waits until it has prepared its attacks (or has ended, as `stop` will say).
 *
 * @param priority of its process, from -20 to 19 (nice).
 */
export async function startAttacker(slugs: string[], target: Target, priority: number): Promise<Attacker> {
  // In a process group of its own: the agents that it starts end with it.
  const child = spawn(process.execPath, [program, ...slugs], {
    env: { PATH: process.env.PATH, TARGET: JSON.stringify(target) },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const pid = child.pid ?? 0;
  if (priority !== 0) setPriority(pid, priority);
  child.stdin.on('error', () => {});
  const [errors, closed] = [text(child.stderr), once(child, 'close')];
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await Promise.race([once(output, 'line'), closed]);
  return {
    begin: () => child.stdin.write('begin\n'),
    async stop() {
      child.stdin.end();
      const deadline = setTimeout(() => endGroup(pid), END_MS);
      const [, killedBy] = await closed;
      clearTimeout(deadline);
      endGroup(pid);
      const line = lines.at(-1) ?? '';
      process.stderr.write((await errors).slice(-4000));
      if (killedBy === null && line.startsWith('{')) return JSON.parse(line) as Record<string, Counts>;
      process.stderr.write(`${slugs.join(', ')}: ended by ${killedBy ?? 'itself'}\n`);
      return Object.fromEntries(slugs.map((slug) => [slug, { crashed: 1 }]));
    },
  };
}

/** Ends the processes that an attacker has left behind, and itself. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
