// The state file of a running agent: locked, and written again for as long as that fails. A device that nobody can reach must come up
// with a full disk, too: its tunnels come first, and what cannot be written is said and tried again.

import type { Log } from '../log.ts';
import { LockError, lockInstance } from './instance-lock.ts';
import { openStateFile, StateFileError } from './state-file.ts';
import type { AgentState } from './state-format.ts';

/** The time after which a failed write is tried again; milliseconds. */
const RETRY_MS = 15_000;
/** What a disk does that is full, broken, or mounted to be read only. Anything else is a mistake of the configuration. */
const DISK_FAILURES = ['ENOSPC', 'EROFS', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE'];

/** The state of an agent that runs. */
export interface OpenState {
  /** Returns the state to save: that which was read, until the agent sets another. */
  state: () => AgentState;
  readonly loaded: AgentState;
  /** What was wrong with the file at the start; null when nothing was. */
  readonly damage: string | null;
  /** Why the last state is not on the disk; null when it is. */
  readonly failure: string | null;
  /** As in `StateFile`. After a failure it is tried again until it succeeds. */
  save(): Promise<void>;
  /** Writes once more, and releases the lock. It never rejects. */
  close(): Promise<void>;
  /** Releases the lock, and writes nothing. */
  release(): void;
}

/**
 * Locks and reads the state file.
 * @throws {LockError} when another process uses the file. @throws {StateFileError} when it cannot be used, but not for what a disk
 * may do: then the agent runs from what it has.
 */
export async function openState(file: string, log: Log): Promise<OpenState> {
  const unlock = lock(file, log);
  const opened = await openStateFile(file, () => open.state()).catch((error: Error) => {
    unlock();
    throw error;
  });
  if (opened.damage !== null) log('error', opened.damage);
  let failure: string | null = null;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function save(): Promise<void> {
    try {
      await opened.save();
      if (failure !== null) log('info', 'the state file is written again', { file });
      failure = null;
    } catch (error) {
      const { message } = error as Error;
      if (failure !== message) log('error', 'the state file cannot be written; it is tried again', { reason: message });
      failure = message;
      clearTimeout(retry);
      if (!isClosed) retry = setTimeout(() => save().catch(() => {}), RETRY_MS).unref();
      throw error;
    }
  }

  const open: OpenState = {
    state: () => opened.loaded,
    loaded: opened.loaded,
    damage: opened.damage,
    get failure() {
      return failure;
    },
    save,
    async close() {
      isClosed = true;
      await save().catch(() => {});
      open.release();
    },
    release() {
      isClosed = true;
      clearTimeout(retry);
      unlock();
    },
  };
  return open;
}

function lock(file: string, log: Log): () => void {
  try {
    return lockInstance(file);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (error instanceof LockError) throw error;
    if (!DISK_FAILURES.includes(code)) throw new StateFileError(`AGENT_STATE_FILE ${file} cannot be used: ${message}`);
    log('error', 'the state file is used without a lock, as none can be written', { file, reason: message });
    return () => {};
  }
}
