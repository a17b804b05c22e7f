// How many connections each of several processes has at the listeners that they share. The counts are in a file that all of them have
// open: each sees at once what the others have, where a message would come when a burst of connections is over.

import { mkdirSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const LISTENERS = ['http', 'https', 'tcp', 'agent'] as const;
/** A listener, or all those of TCP endpoints. */
export type CountedListener = (typeof LISTENERS)[number];

const CELL_BYTES = Uint32Array.BYTES_PER_ELEMENT;
const RECORD_CELLS = LISTENERS.length;
const RECORD_BYTES = RECORD_CELLS * CELL_BYTES;
/** The most processes that are seen. */
const RECORDS_MAX = 1024;

/**
 * Makes the file, which has no name: it is gone with the last process that has it open.
 * @returns its descriptor. @throws when it cannot be written in this directory.
 */
export function openCounts(directory: string): number {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `counts-${process.pid}`);
  const fd = openSync(path, 'w+', 0o600);
  unlinkSync(path);
  return fd;
}

/** A process has ended. @param record its place in the file. */
export function clearCounts(fd: number, record: number): void {
  try {
    writeSync(fd, new Uint32Array(RECORD_CELLS), 0, RECORD_BYTES, record * RECORD_BYTES);
  } catch {
    // The disk fails. Others wait for this process now and then, and never for long.
  }
}

/** The counts as one process sees them. A disk that fails makes it alone: nothing depends on the others. */
export class ConnectionCounts {
  readonly #fd: number;
  readonly #record: number;
  readonly #own = new Uint32Array(1);
  readonly #all = new Uint32Array(RECORDS_MAX * RECORD_CELLS);

  /** @param record the place of this process in the file, from 0. */
  constructor(fd: number, record: number) {
    this.#fd = fd;
    this.#record = record;
    clearCounts(fd, record);
  }

  /** Says how many connections this process has; undefined: it does not listen. */
  set(listener: CountedListener, open: number | undefined): void {
    this.#own[0] = open === undefined ? 0 : open + 1;
    const cell = this.#record * RECORD_CELLS + LISTENERS.indexOf(listener);
    try {
      writeSync(this.#fd, this.#own, 0, CELL_BYTES, cell * CELL_BYTES);
    } catch {}
  }

  /** How many other processes listen, and how many connections they have in all. */
  others(listener: CountedListener): { processes: number; open: number } {
    let processes = 0;
    let open = 0;
    const cells = this.#read();
    for (let cell = LISTENERS.indexOf(listener), record = 0; cell < cells; cell += RECORD_CELLS, record++) {
      const value = this.#all[cell] ?? 0;
      if (value === 0 || record === this.#record) continue;
      processes++;
      open += value - 1;
    }
    return { processes, open };
  }

  #read(): number {
    try {
      return readSync(this.#fd, this.#all, 0, this.#all.byteLength, 0) / CELL_BYTES;
    } catch {
      return 0;
    }
  }
}
