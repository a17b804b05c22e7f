// The state file, which is replaced atomically, so that a power failure never leaves a partial one.

import { copyFile, readFile } from 'node:fs/promises';
import { replaceFile } from '../replace-file.ts';
import { type AgentState, EMPTY_STATE, NewerStateError, parseState, printState } from './state-format.ts';

/** The state file cannot be used; the message says why. */
export class StateFileError extends Error {}

/** An open state file. */
export interface StateFile {
  /** The state that was read at the start. */
  readonly loaded: AgentState;
  /** The damage that was found at the start; null when there was none. */
  readonly damage: string | null;
  /**
   * Writes the current state. Resolves when it is on the disk. Calls during a write share the next write. An unchanged state
   * is not written, to spare flash memory.
   */
  save(): Promise<void>;
}

/**
 * Reads the file; a missing one is an empty state. A damaged file is copied to `FILE.corrupt-TIME`, and `FILE.bak`, the
 * version before, is read instead.
 * @param state returns the state to save; it is called at each write.
 * @throws {StateFileError} when a newer agent wrote the file, or it cannot be read.
 */
export async function openStateFile(file: string, state: () => AgentState): Promise<StateFile> {
  const { loaded, text, damage } = await load(file);
  // A damaged version does not become the backup.
  let onDisk = damage === null ? text : null;
  let lastWrite: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  async function write(): Promise<void> {
    next = undefined;
    const serialized = printState(state());
    if (serialized === onDisk) return;
    await replaceFile(file, serialized, onDisk !== null);
    onDisk = serialized;
  }

  return {
    loaded,
    damage,
    save() {
      next ??= lastWrite = lastWrite.catch(() => {}).then(write); // The caller of that write got its failure.
      return next;
    },
  };
}

async function load(file: string): Promise<{ loaded: AgentState; text: string | null; damage: string | null }> {
  const text = await read(file);
  if (text === null) return { loaded: EMPTY_STATE, text, damage: null };
  try {
    return { loaded: parseState(text), text, damage: null };
  } catch (error) {
    if (error instanceof NewerStateError) throw new StateFileError(`${file} cannot be used: ${error.message}`);
    const copy = `${file}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    await copyFile(file, copy);
    const backup = await read(`${file}.bak`);
    const description = `${file} is damaged (${(error as Error).message}); it was set aside as ${copy}`;
    try {
      if (backup !== null)
        return { loaded: parseState(backup), text, damage: `${description}, and ${file}.bak is used` };
    } catch {
      // The backup is damaged, too; the text below says so.
    }
    return { loaded: EMPTY_STATE, text, damage: `${description}, and there is no good ${file}.bak: tunnels are lost` };
  }
}

async function read(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StateFileError(`AGENT_STATE_FILE cannot be read: ${(error as Error).message}`);
  }
}
