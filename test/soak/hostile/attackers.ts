// Starts attackers as processes of their own, and stops them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { join } from 'node:path';
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
  slug: string;
  /** @returns what it counted; `crashed` where it ended without a count, or did not end in time. */
  stop(): Promise<Counts>;
}

/**
 * Starts an attack.
 *
 * @param priority of its process, from -20 to 19 (nice).
 */
export function startAttacker(slug: string, target: Target, priority: number): Attacker {
  // In a process group of its own: the agents that it starts end with it.
  const child = spawn(process.execPath, [program, slug], {
    env: { PATH: process.env.PATH, TARGET: JSON.stringify(target) },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const pid = child.pid ?? 0;
  if (priority !== 0) setPriority(pid, priority);
  child.stdin.on('error', () => {});
  const [output, errors] = [text(child.stdout), text(child.stderr)];
  const exited = once(child, 'exit');
  return {
    slug,
    async stop() {
      child.stdin.end();
      const deadline = setTimeout(() => endGroup(pid), END_MS);
      const [, killedBy] = await exited;
      clearTimeout(deadline);
      endGroup(pid);
      const line = (await output).trim().split('\n').at(-1) ?? '';
      if (killedBy === null && line.startsWith('{')) return JSON.parse(line) as Counts;
      process.stderr.write(`${slug}: ended by ${killedBy ?? 'itself'}\n${(await errors).slice(-2000)}\n`);
      return { crashed: 1 };
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
