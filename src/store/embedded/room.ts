// The room on the disk below the embedded database. A database that cannot write its log stops itself: so nothing is
// written while there is little room, and what is there can be read.

import { statfs } from 'node:fs/promises';

const MB = 1024 * 1024;
/** With less, nothing is written. A new segment of the log has 16 MB, and what was changed already has to be written out. */
export const ROOM_LEAST = 64 * MB;
/** What a new database takes, with the room that it needs then. */
export const ROOM_FIRST = 128 * MB;
/** With more, all goes on. */
const ROOM_AGAIN = 96 * MB;
/** How often it is looked at; milliseconds. */
const LOOK_MS = 1000;

/** A disk that takes fewer files than this is full, whatever room it has: the log goes on in new ones. */
const FILES_LEAST = 64;

/** Bytes that may be written below a directory. */
export async function roomIn(directory: string): Promise<number> {
  const { bavail, bsize, files, ffree } = await statfs(directory);
  // Some file systems do not count files: they have 0 of 0 left.
  return files > 0 && ffree < FILES_LEAST ? 0 : bavail * bsize;
}

export interface RoomOptions {
  directory: string;
  /** Makes transactions read-only that begin from now on, or not. If it fails, it is tried again. */
  setReadOnly(isReadOnly: boolean): Promise<unknown>;
  onNotice(text: string): void;
}

export class Room {
  readonly #options: RoomOptions;
  readonly #timer: NodeJS.Timeout;
  #isShort = false;
  #isSet = true;
  #isLooking = false;

  constructor(options: RoomOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  /** Whether nothing is written for want of room. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** The same as of now: a disk may fill between two looks. */
  async measure(): Promise<boolean> {
    const room = await roomIn(this.#options.directory);
    const isShort = room < (this.#isShort ? ROOM_AGAIN : ROOM_LEAST);
    if (isShort !== this.#isShort) this.#tell(isShort, room);
    return this.#isShort;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const isShort = await this.measure();
      if (this.#isSet) return;
      await this.#options.setReadOnly(isShort);
      // It may have changed meanwhile.
      this.#isSet = isShort === this.#isShort;
    } catch {
      // The next look tries again. Of a database that is lost, others tell.
    } finally {
      this.#isLooking = false;
    }
  }

  #tell(isShort: boolean, room: number): void {
    this.#isShort = isShort;
    this.#isSet = false;
    const { directory, onNotice } = this.#options;
    const free = `${Math.floor(room / MB)} MB are free in ${directory}`;
    if (isShort) onNotice(`${free}: nothing is written to the database until there are ${ROOM_AGAIN / MB} MB`);
    else onNotice(`${free}: the database is written to again`);
  }
}
