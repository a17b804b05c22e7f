// A log file with rotation: a device has no program that would cut it, and nobody who looks at its disk.

import { type FileHandle, open, rename } from 'node:fs/promises';

/** Where to log, and how much of it to keep. */
export interface LogFileSettings {
  file: string;
  /** The size beyond which a new file is begun; bytes. */
  maxBytes: number;
  /** How many files before it are kept: `FILE.1` is the newest of them. */
  keep: number;
}

/** The most characters that wait for the disk. Lines beyond that are dropped. */
const QUEUE_CHARACTERS_MAX = 2 ** 20;
/** After a failure of the disk, the time in which nothing is tried; milliseconds. */
const RETRY_MS = 15_000;

export class LogFile {
  readonly #settings: LogFileSettings;
  readonly #otherwise: (line: string) => void;
  readonly #now: () => number;
  #handle: FileHandle | undefined;
  #size = 0;
  #queue: string[] = [];
  #characters = 0;
  #writing: Promise<void> | undefined;
  #retryAt = 0;
  #failure: string | undefined;

  /** @param otherwise takes the lines that cannot be written, and why. @param now a monotonic clock, in milliseconds. */
  constructor(settings: LogFileSettings, otherwise: (line: string) => void, now = () => performance.now()) {
    this.#settings = settings;
    this.#otherwise = otherwise;
    this.#now = now;
  }

  /** Queues a line, which includes its line break. It neither blocks nor throws. */
  write(line: string): void {
    if (this.#characters + line.length > QUEUE_CHARACTERS_MAX) {
      this.#otherwise(line);
      return;
    }
    this.#queue.push(line);
    this.#characters += line.length;
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when all lines are written, and the file is closed. It never rejects. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#closeHandle();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const lines = this.#queue.splice(0);
      this.#characters = 0;
      try {
        await this.#append(lines);
      } catch (error) {
        this.#fail(error as Error);
        for (const line of lines) this.#otherwise(line);
      }
    }
  }

  async #append(lines: string[]): Promise<void> {
    if (this.#now() < this.#retryAt) throw new Error(this.#failure);
    const bytes = Buffer.from(lines.join(''));
    await this.#open();
    if (this.#size > 0 && this.#size + bytes.length > this.#settings.maxBytes) await this.#rotate();
    await this.#handle?.appendFile(bytes);
    this.#size += bytes.length;
    this.#failure = undefined;
  }

  async #open(): Promise<void> {
    if (this.#handle) return;
    this.#handle = await open(this.#settings.file, 'a', 0o600);
    this.#size = (await this.#handle.stat()).size;
  }

  /** The oldest file goes: each takes the place of the one before it. */
  async #rotate(): Promise<void> {
    const { file, keep } = this.#settings;
    await this.#closeHandle();
    for (let number = keep; number > 0; number--) {
      const from = number === 1 ? file : `${file}.${number - 1}`;
      await rename(from, `${file}.${number}`).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    }
    await this.#open();
  }

  #fail({ message }: Error): void {
    if (this.#now() < this.#retryAt) return; // Nothing was tried.
    this.#retryAt = this.#now() + RETRY_MS;
    void this.#closeHandle();
    if (this.#failure === message) return; // It was said.
    this.#failure = message;
    this.#otherwise(`LOG_FILE cannot be written; it is tried again: ${message}\n`);
  }

  async #closeHandle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => {});
  }
}
