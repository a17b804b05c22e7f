// Watches the free space on the disk of the embedded database. A database that cannot write its log stops itself. So while there is
// little space, nothing is written, and the data can still be read.

import { statfs } from 'node:fs/promises';

const MB = 1024 * 1024;
/** With less free space, nothing is written. A new segment of the log has 16 MB, and changed pages still have to be written. */
export const FREE_MIN = 64 * MB;
/** The free space that a first start needs: the size of a new database, and the minimum above. */
export const FREE_AT_FIRST_START = 128 * MB;
/** With more free space, writing resumes. */
const FREE_TO_RESUME = 96 * MB;
/** How often the space is checked, in milliseconds. */
const CHECK_INTERVAL_MS = 1000;

/** With fewer free inodes, the disk counts as full whatever space is free, because the log continues in new files. */
const FREE_FILES_MIN = 64;

/** Bytes that may be written below a directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize, files, ffree } = await statfs(directory);
  // Some file systems do not count inodes, and report 0 of 0.
  return files > 0 && ffree < FREE_FILES_MIN ? 0 : bavail * bsize;
}

export interface DiskSpaceOptions {
  directory: string;
  /** Makes transactions that begin from now on read-only, or writable again. A failure is retried. */
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

  /** Whether writing is suspended for lack of space, as of the last check. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** Checks now whether writing is suspended: a disk may fill up between two checks. */
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
      // The state may have changed while the statement ran.
      this.#isApplied = isShort === this.#isShort;
    } catch {
      // The next check retries. A lost database is reported elsewhere.
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
