// Lines for a standard stream of the process. Whoever does not take them, and a disk that is full, hold nobody up.

import { constants, fstatSync, openSync, write as writeToFile } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

/** Characters that wait at most; what comes then is dropped. */
const WAITING_MAX = 4 * 2 ** 20;
/** Characters that are written at once, or one line. */
const BATCH = 64 * 2 ** 10;
/** After which what could not be written is tried again; milliseconds. */
const AGAIN_MS = 1000;

type Sink = (text: string, done: (error?: Error | null) => void) => void;

export class LineWriter {
  readonly #fd: 1 | 2;
  readonly #onFlowing: (dropped: number) => void;
  #sink: Sink | undefined;
  #waiting: string[] = [];
  #characters = 0;
  #isWriting = false;
  #dropped = 0;
  #untold = 0;
  #idle: (() => void)[] = [];

  /** @param onFlowing told when lines are taken again, and how many were dropped since it was told last. */
  constructor(fd: 1 | 2, onFlowing: (dropped: number) => void = () => {}) {
    this.#fd = fd;
    this.#onFlowing = onFlowing;
  }

  /** How many lines were dropped in all. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes a line, with its line break, as soon as it can. It neither waits nor throws. */
  write(line: string): void {
    if (this.#characters + line.length > WAITING_MAX) {
      this.#dropped++;
      this.#untold++;
      return;
    }
    this.#waiting.push(line);
    this.#characters += line.length;
    if (!this.#isWriting) this.#pump();
  }

  /** Resolves when everything is written, or after so many milliseconds. It never rejects. */
  async flush(limitMs: number): Promise<void> {
    if (!this.#isWriting) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
      timer = setTimeout(resolve, limitMs);
    });
    clearTimeout(timer);
  }

  #pump(): void {
    const batch = this.#take();
    this.#isWriting = batch !== '';
    if (!this.#isWriting) {
      for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    this.#sink ??= openSink(this.#fd);
    this.#sink(batch, (error) => (error ? this.#tryAgain(batch) : this.#written(batch)));
  }

  #take(): string {
    let length = 0;
    let count = 0;
    for (const line of this.#waiting) {
      if (count > 0 && length + line.length > BATCH) break;
      length += line.length;
      count++;
    }
    return this.#waiting.splice(0, count).join('');
  }

  #written(batch: string): void {
    this.#characters -= batch.length;
    const dropped = this.#untold;
    this.#untold = 0;
    if (dropped > 0) this.#onFlowing(dropped);
    this.#pump();
  }

  /** The stream may be another by then: a pipe has a reader again, a disk has room. */
  #tryAgain(batch: string): void {
    this.#sink = undefined;
    this.#waiting.unshift(batch);
    setTimeout(() => this.#pump(), AGAIN_MS).unref();
  }
}

function openSink(fd: 1 | 2): Sink {
  try {
    const stat = fstatSync(fd);
    if (stat.isFIFO() || stat.isSocket()) return toSocket(stat.isFIFO() ? ownEnd(fd) : fd);
    // Only a person who stops the terminal can hold it up.
    if (isatty(fd)) return (text, done) => void (fd === 1 ? process.stdout : process.stderr).write(text, done);
  } catch (error) {
    return (_, done) => void setImmediate(done, error as Error);
  }
  // One write at a time: a disk that hangs holds one thread of Node’s pool, not all.
  return (text, done) => toFile(fd, Buffer.from(text), done);
}

/**
 * The same pipe, opened anew: to be not blocking is a property of what was opened, which other processes share. Where that
 * cannot be, as after a change of the user, the one that there is.
 */
function ownEnd(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') throw error; // Nobody reads.
    return fd;
  }
}

function toSocket(fd: number): Sink {
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.on('error', () => {}); // The write that fails says so.
  return (text, done) => void socket.write(text, done);
}

function toFile(fd: number, bytes: Buffer, done: (error?: Error | null) => void): void {
  writeToFile(fd, bytes, (error, written) => {
    if (error || written === bytes.length) done(error);
    else toFile(fd, bytes.subarray(written), done);
  });
}
