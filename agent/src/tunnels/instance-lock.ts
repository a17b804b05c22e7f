// One agent to a state file: a directory beside it holds one file, named after the process that has it.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The state file cannot be had for this agent alone. */
export class LockError extends Error {}

/**
 * Takes the lock of `file`. What a process left that is dead counts for nothing, even when its number is in use again.
 * @returns what gives it back.
 * @throws {LockError} naming the process that has it, or why the directory cannot be written.
 */
export function lockInstance(file: string): () => void {
  const directory = `${file}.lock`;
  const me = nameOf(process.pid);
  const mine = `${directory}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(mine, { recursive: true, force: true });
    mkdirSync(mine, { mode: 0o700 });
    writeFileSync(join(mine, me), '');
    acquireLock(directory, mine, me, file);
  } catch (error) {
    if (!(error instanceof LockError))
      throw new LockError(`AGENT_STATE_FILE ${file} cannot be used: ${(error as Error).message}`);
    rmSync(mine, { recursive: true, force: true });
    throw error;
  }
  return () => releaseLock(directory, me);
}

/**
 * The directory appears together with the file in it, by a rename, so that nobody sees it without an owner; a dead
 * owner's file is removed by its name, which is nobody else's.
 */
function acquireLock(directory: string, mine: string, me: string, file: string): void {
  for (;;) {
    const holder = holderOf(directory);
    if (holder !== undefined) {
      if (holder !== me && isAlive(holder))
        throw new LockError(`Process ${holder.split('.')[0]} is an agent with AGENT_STATE_FILE ${file} already.`);
      releaseLock(directory, holder);
    }
    try {
      renameSync(mine, directory);
      return;
    } catch (error) {
      // Somebody was quicker: looked at again.
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

function holderOf(directory: string): string | undefined {
  try {
    return readdirSync(directory)[0];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function releaseLock(directory: string, holder: string): void {
  rmSync(join(directory, holder), { force: true });
  try {
    rmdirSync(directory);
  } catch {
    // Somebody else has it by now, or has removed it.
  }
}

function isAlive(holder: string): boolean {
  const pid = Number(holder.split('.')[0]);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return nameOf(pid) === holder && !ENDED.includes(statOf(pid)[0] ?? '');
}

/** States of a process that has ended: its parent has not asked for its exit code, as in a container without an init. */
const ENDED = ['Z', 'X'];

/** The number of a process, and where the system tells it, when it began: numbers come round again. */
function nameOf(pid: number): string {
  const start = statOf(pid)[19];
  return start === undefined ? `${pid}` : `${pid}.${start}`;
}

/** What the system tells of a process: the first is its state, the 20th its start in clock ticks. Empty where it tells nothing. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // It follows the command's name, which may have anything in it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
