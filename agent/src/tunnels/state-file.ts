// The file that tunnels are kept in: whole or not at all on the disk, whatever happens to the power.

import { copyFile, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type AgentState, EMPTY_STATE, NewerStateError, parseState, printState } from './state-format.ts';

/** The state file cannot be used; the text says what to do. */
export class StateFileError extends Error {}

export interface StateFile {
  /** What it held at the start. */
  readonly loaded: AgentState;
  /** What was wrong with it at the start; null when nothing was. */
  readonly damage: string | null;
  /**
   * Brings the file up to date; resolves when what `state` gives is on the disk. Calls that come while one is being
   * written share the next write, and nothing is written when nothing has changed: flash wears out.
   */
  save(): Promise<void>;
}

/**
 * Reads the file; none is an empty one. A damaged one is set aside as `FILE.corrupt-TIME`, and `FILE.bak`, the version
 * before, is used in its place.
 * @param state what is to be saved, asked at each write.
 * @throws {StateFileError} when it was written by a newer agent, or cannot be read at all.
 */
export async function openStateFile(file: string, state: () => AgentState): Promise<StateFile> {
  const { loaded, text, damage } = await load(file);
  // The version before is kept only if it was good.
  let onDisk = damage === null ? text : null;
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  async function write(): Promise<void> {
    next = undefined;
    const wanted = printState(state());
    if (wanted === onDisk) return;
    await replace(file, wanted, onDisk !== null);
    onDisk = wanted;
  }

  return {
    loaded,
    damage,
    save() {
      next ??= writing = writing.catch(() => {}).then(write); // The failure was told to whoever asked for that write.
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
    const aside = `${file}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    await copyFile(file, aside);
    const before = await read(`${file}.bak`);
    const found = `${file} is damaged (${(error as Error).message}); it was set aside as ${aside}`;
    try {
      if (before !== null) return { loaded: parseState(before), text, damage: `${found}, and ${file}.bak is used` };
    } catch {
      // Damaged too: told below.
    }
    return { loaded: EMPTY_STATE, text, damage: `${found}, and there is no good ${file}.bak: tunnels are lost` };
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

/** At every moment there is a whole file under the name: the one before, or the new one. */
async function replace(file: string, text: string, keep: boolean): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.new`;
  await rm(draft, { force: true }); // Of a crash; its mode would be kept.
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (keep) {
    await rm(`${file}.bak`, { force: true });
    // Not every file system has links.
    await link(file, `${file}.bak`).catch(() => copyFile(file, `${file}.bak`));
  }
  await rename(draft, file);
  const directory = await open(dirname(file), 'r');
  // Where directories cannot be synced, the rename is as durable as it gets.
  await directory.sync().catch(() => {});
  await directory.close();
}
