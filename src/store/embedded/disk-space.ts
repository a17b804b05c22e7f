// The free space on the disk of the embedded database. A database that cannot write its log stops itself: so nothing is
// written while there is little space, and what is there can be read.

import { statfs } from 'node:fs/promises';

const MB = 1024 * 1024;
/** With less, nothing is written. A new segment of the log has 16 MB, and what was changed already has to be written out. */
export const FREE_MIN = 64 * MB;
/** What a new database takes, with the space that it needs then. */
export const FREE_AT_FIRST_START = 128 * MB;
/** With more, all goes on. */
const FREE_TO_RESUME = 96 * MB;
/** How often it is looked at; milliseconds. */
const CHECK_INTERVAL_MS = 1000;

/** A disk that takes fewer files than this is full, whatever space is free: the log goes on in new ones. */
const FREE_FILES_MIN = 64;

/** Bytes that may be written below a directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize, files, ffree } = await statfs(directory);
  // Some file systems do not count files: they have 0 of 0 left.
  return files > 0 && ffree < FREE_FILES_MIN ? 0 : bavail * bsize;
}

export interface DiskSpaceOptions {
  directory: string;
  /** Makes transactions read-only that begin from now on, or not. If it fails, it is tried again. */
  setReadOnly(isReadOnly: boolean): Promise<unknown>;
  onNotice(text: string): void;
}

export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  readonly #timer: NodeJS.Timeout;
  #isShort = false;
  #isApplied = true;
  #isChecking = false;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#check(), CHECK_INTERVAL_MS).unref();
  }

  /** Whether nothing is written for want of space. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** The same as of now: a disk may fill between two looks. */
  async measure(): Promise<boolean> {
    const free = await freeBytes(this.#options.directory);
    const isShort = free < (this.#isShort ? FREE_TO_RESUME : FREE_MIN);
    if (isShort !== this.#isShort) this.#notify(isShort, free);
    return this.#isShort;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const isShort = await this.measure();
      if (this.#isApplied) return;
      await this.#options.setReadOnly(isShort);
      // It may have changed meanwhile.
      this.#isApplied = isShort === this.#isShort;
    } catch {
      // The next look tries again. Of a database that is lost, others tell.
    } finally {
      this.#isChecking = false;
    }
  }

  #notify(isShort: boolean, bytes: number): void {
    this.#isShort = isShort;
    this.#isApplied = false;
    const { directory, onNotice } = this.#options;
    const free = `${Math.floor(bytes / MB)} MB are free in ${directory}`;
    if (isShort) onNotice(`${free}: nothing is written to the database until there are ${FREE_TO_RESUME / MB} MB`);
    else onNotice(`${free}: the database is written to again`);
  }
}
