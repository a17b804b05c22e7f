// Starts the worker of the database, and starts it again when it ended because the disk was full.

import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseWorker } from './database-worker.ts';
import { FREE_MIN, freeBytes } from './disk-space.ts';

/** The delay between two attempts to open the database again, in milliseconds. */
const RETRY_MS = 1000;

export interface WorkerSupervisorOptions {
  /** Where the database is; undefined: in memory. */
  directory: string | undefined;
  callTimeoutMs: number;
  /** Called once, with a text for the operator, when the database is lost for good. */
  onFatal(text: string): void;
}

export class WorkerSupervisor {
  readonly #options: WorkerSupervisorOptions;
  #current: DatabaseWorker;
  #reopened: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(options: WorkerSupervisorOptions) {
    this.#options = options;
    this.#current = this.#open();
  }

  /** The current worker. While there is none, one whose calls fail. */
  get current(): DatabaseWorker {
    return this.#current;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#current.close(), this.#reopened]);
  }

  #open(): DatabaseWorker {
    const { directory, callTimeoutMs } = this.#options;
    return new DatabaseWorker(directory, callTimeoutMs, (text) => this.#lost(text));
  }

  #lost(text: string): void {
    const { directory, onFatal } = this.#options;
    if (directory === undefined || !isDiskFull(text)) onFatal(text);
    else this.#reopened = this.#reopen(directory).catch((error: Error) => onFatal(error.message));
  }

  async #reopen(directory: string): Promise<void> {
    await this.#current.close(); // Two workers must never use the same files.
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await wait(RETRY_MS, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      if ((await freeBytes(directory).catch(() => 0)) < FREE_MIN) continue;
      const worker = this.#open();
      try {
        await worker.opened();
      } catch (error) {
        await worker.close();
        if (signal.aborted || isDiskFull((error as Error).message)) continue; // The disk filled up again meanwhile.
        throw error;
      }
      if (signal.aborted) return worker.close();
      this.#current = worker;
      return;
    }
  }
}

/** Whether a full disk is the reason why the database ended or did not start. */
const isDiskFull = (text: string) => /No space left on device|quota exceeded|ENOSPC|EDQUOT/i.test(text);
