// A process that has ended and that nobody has asked for its exit code.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { eventually } from '../eventually.ts';

/** Whether the system tells of the states of processes. */
export const hasProc = existsSync('/proc/self/stat');

/** @returns its number, and when it began as `/proc` has it. It is there until the test is over. */
export async function newZombie(): Promise<{ pid: number; start: string }> {
  // The shell's child ends, and what the shell has become by then asks for nothing.
  const parent = spawn('sh', ['-c', 'head -c 1 <&3 >/dev/null & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [, stdout, , end] = parent.stdio as unknown as [null, Readable, null, Writable];
  const [chunk] = await once(stdout, 'data');
  await eventually(() => {
    if (readFileSync(`/proc/${parent.pid}/comm`, 'latin1').trim() !== 'sleep') throw new Error('it is a shell yet');
  });
  end.end('.');
  const pid = Number(String(chunk));
  const fields = () => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  };
  await eventually(() => {
    if (fields()[0] !== 'Z') throw new Error('it has not ended yet');
  });
  return { pid, start: fields()[19] ?? '' };
}
