// The state file, which is replaced atomically, so that a power failure never leaves a partial one.

import { copyFile, readFile } from 'node:fs/promises';
import { replaceFile } from '../replace-file.ts';
import { type AgentState, EMPTY_STATE, NewerStateError, parseState, printState, VERSION } from './state-format.ts';

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
 * version before, is read instead. A file that a newer agent wrote is left alone for the day on which it is back: this agent uses
 * `FILE.v1`, by the version of its format, and begins with `FILE.bak` where that is of its own.
 * @param state returns the state to save; it is called at each write.
 * @throws {StateFileError} when the file cannot be read.
 */
export async function openStateFile(file: string, state: () => AgentState): Promise<StateFile> {
  const { loaded, text, damage, own } = await load(file);
  // A damaged version does not become the backup.
  let onDisk = damage === null ? text : null;
  let lastWrite: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  async function write(): Promise<void> {
    next = undefined;
    const serialized = printState(state());
    if (serialized === onDisk) return;
    await replaceFile(own, serialized, onDisk !== null);
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

interface Loaded {
  loaded: AgentState;
  /** What is on the disk under the name of `own`; null for nothing. */
  text: string | null;
  damage: string | null;
  /** The file to write. */
  own: string;
}

async function load(file: string): Promise<Loaded> {
  const text = await read(file);
  if (text === null) return { loaded: EMPTY_STATE, text, damage: null, own: file };
  try {
    return { loaded: parseState(text), text, damage: null, own: file };
  } catch (error) {
    if (error instanceof NewerStateError) return loadOlder(file, error.message);
    const copy = `${file}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    const isAside = await copyFile(file, copy).then(
      () => true,
      () => false, // A full disk, most likely. The version before serves all the same.
    );
    const description = `${file} is damaged (${(error as Error).message}); it ${isAside ? `was set aside as ${copy}` : 'could not be set aside'}`;
    const backup = await readGood(`${file}.bak`);
    if (backup !== null) return { loaded: backup, text, damage: `${description}, and ${file}.bak is used`, own: file };
    const damage = `${description}, and there is no good ${file}.bak: tunnels are lost`;
    return { loaded: EMPTY_STATE, text, damage, own: file };
  }
}

/** @param newer what a newer agent has written, and is left alone. */
async function loadOlder(file: string, newer: string): Promise<Loaded> {
  const own = `${file}.v${VERSION}`;
  const text = await read(own);
  const kept = (await readGood(own)) ?? (await readGood(`${file}.bak`));
  const found =
    kept === null ? 'there is none of this agent, so that it has no tunnels yet' : 'that of this agent is used';
  return {
    loaded: kept ?? EMPTY_STATE,
    text,
    damage: `${file} is of a newer agent (${newer}): ${found}, in ${own}`,
    own,
  };
}

/** The state of a file; null when it has none that can be used. */
async function readGood(file: string): Promise<AgentState | null> {
  try {
    const text = await read(file);
    return text === null ? null : parseState(text);
  } catch {
    return null;
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
