// The database's worker, and another one in its place when it ended for want of room on the disk.

import { setTimeout as wait } from 'node:timers/promises';
import { Link } from './link.ts';
import { ROOM_LEAST, roomIn } from './room.ts';

/** Between two attempts to open the database again; milliseconds. */
const RETRY_MS = 1000;

export interface LinksOptions {
  /** Where the database is; undefined: in memory. */
  directory: string | undefined;
  callTimeoutMs: number;
  /** Told once, in plain words, when the database is lost for good. */
  onFatal(text: string): void;
}

export class Links {
  readonly #options: LinksOptions;
  #current: Link;
  #isClosing = false;

  constructor(options: LinksOptions) {
    this.#options = options;
    this.#current = this.#open();
  }

  /** The worker as it is now; while there is none, one whose calls fail. */
  get current(): Link {
    return this.#current;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#current.close();
  }

  #open(): Link {
    const { directory, callTimeoutMs } = this.#options;
    return new Link(directory, callTimeoutMs, (text) => this.#lost(text));
  }

  #lost(text: string): void {
    const { directory, onFatal } = this.#options;
    if (directory === undefined || !isOutOfRoom(text)) onFatal(text);
    else this.#reopen(directory).catch((error: Error) => onFatal(error.message));
  }

  async #reopen(directory: string): Promise<void> {
    await this.#current.close(); // Never two on the same files.
    while (!this.#isClosing) {
      await wait(RETRY_MS, undefined, { ref: false });
      if ((await roomIn(directory).catch(() => 0)) < ROOM_LEAST) continue;
      const link = this.#open();
      try {
        await link.opened();
      } catch (error) {
        await link.close();
        if (isOutOfRoom((error as Error).message)) continue; // It was filled meanwhile.
        throw error;
      }
      if (this.#isClosing) return link.close();
      this.#current = link;
      return;
    }
  }
}

/** Whether that is why the database ended, or did not start. */
const isOutOfRoom = (text: string) => /No space left on device|quota exceeded|ENOSPC|EDQUOT/i.test(text);
