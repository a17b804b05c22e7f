// The lock of a state file, which only one agent may use: a directory beside it with one file, which names the process.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../replace-file.ts';

/** The lock is held by another process. */
export class LockError extends Error {}

/**
 * Acquires the lock of `file`. A lock of a dead process is ignored, even when its process id is in use again.
 * @returns the function that releases the lock.
 * @throws {LockError} the process that holds the lock. @throws {Error} the reason why the lock cannot be written.
 */
export function lockInstance(file: string): () => void {
  const directory = `${file}.lock`;
  const ownName = processName(process.pid);
  const draft = `${directory}.${process.pid}`;
  try {
    makeDirectory(dirname(file));
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    writeFileSync(join(draft, ownName), '');
    acquireLock(directory, draft, ownName, file);
  } catch (error) {
    removeDraft(draft);
    throw error;
  }
  return () => releaseLock(directory, ownName);
}

function removeDraft(draft: string): void {
  try {
    rmSync(draft, { recursive: true, force: true });
  } catch {
    // The failure of the lock is told; what could be made of it stays.
  }
}

/**
 * The rename creates the directory together with its file, so that the lock never exists without a holder. The file of a
 * dead holder is removed by its name, which is unique.
 */
function acquireLock(directory: string, draft: string, ownName: string, file: string): void {
  for (;;) {
    const holder = holderOf(directory);
    if (holder !== undefined) {
      if (holder !== ownName && isAlive(holder, join(directory, holder)))
        throw new LockError(`Process ${holder.split('.')[0]} is an agent with AGENT_STATE_FILE ${file} already.`);
      releaseLock(directory, holder);
    }
    try {
      renameSync(draft, directory);
      return;
    } catch (error) {
      // Another process was faster; the loop checks its lock.
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
    // Another process has acquired or removed it meanwhile.
  }
}

/** @param lock the file that the holder has written. */
function isAlive(holder: string, lock: string): boolean {
  const pid = Number(holder.split('.')[0]);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const [state] = readStat(pid);
  // Without /proc a process id that is in use again is told by the start of the machine alone, as after a loss of power.
  if (state === undefined) return statSync(lock).mtimeMs > Date.now() - uptime() * 1000;
  return processName(pid) === holder && !ENDED_STATES.includes(state);
}

/** The states of a process that has ended but was not reaped by its parent, as in a container without an init. */
const ENDED_STATES = ['Z', 'X'];

/** The id of a process, with its start time where the system has one, as process ids are reused. */
function processName(pid: number): string {
  const start = readStat(pid)[19];
  return start === undefined ? `${pid}` : `${pid}.${start}`;
}

/**
 * The fields of /proc/PID/stat behind the command: the first is the state, the 20th the start in clock ticks. Empty
 * without /proc.
 */
function readStat(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The fields follow the command's name in parentheses, which may itself contain parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
