// Writes lines to a standard stream of the process. A reader that does not read, or a full disk, never blocks the caller.

import { constants, fstatSync, openSync, write as writeToFile } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

/** The most characters that wait to be written. Lines beyond that are dropped. */
const QUEUE_CHARACTERS_MAX = 4 * 2 ** 20;
/** The most characters of one write; a line that is longer is a write of its own. */
const BATCH_CHARACTERS = 64 * 2 ** 10;
/** The delay after which a failed write is tried again; milliseconds. */
const RETRY_MS = 1000;

type Sink = (text: string, done: (error?: Error | null) => void) => void;

/**
 * Writes lines to standard output or standard error, in order and in batches. Lines that do not fit into its queue are
 * dropped and counted.
 */
export class LineWriter {
  readonly #fd: 1 | 2;
  readonly #onRecovered: (dropped: number) => void;
  #sink: Sink | undefined;
  #queue: string[] = [];
  #characters = 0;
  #isWriting = false;
  #dropped = 0;
  #unreportedDrops = 0;
  #flushes: (() => void)[] = [];

  /** @param onRecovered called when a write succeeds after lines were dropped, with their number since the last call. */
  constructor(fd: 1 | 2, onRecovered: (dropped: number) => void = () => {}) {
    this.#fd = fd;
    this.#onRecovered = onRecovered;
  }

  /** The number of lines dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Queues a line, which includes its line break, and writes it as soon as possible. It neither blocks nor throws. */
  write(line: string): void {
    if (this.#characters + line.length > QUEUE_CHARACTERS_MAX) {
      this.#dropped++;
      this.#unreportedDrops++;
      return;
    }
    this.#queue.push(line);
    this.#characters += line.length;
    if (!this.#isWriting) this.#pump();
  }

  /** Resolves when the queue is written, or after `limitMs` milliseconds. It never rejects. */
  async flush(limitMs: number): Promise<void> {
    if (!this.#isWriting) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#flushes.push(resolve);
      timer = setTimeout(resolve, limitMs);
    });
    clearTimeout(timer);
  }

  #pump(): void {
    const batch = this.#take();
    this.#isWriting = batch !== '';
    if (!this.#isWriting) {
      for (const resolve of this.#flushes.splice(0)) resolve();
      return;
    }
    this.#sink ??= openSink(this.#fd);
    this.#sink(batch, (error) => (error ? this.#retry(batch) : this.#written(batch)));
  }

  #take(): string {
    let length = 0;
    let count = 0;
    for (const line of this.#queue) {
      if (count > 0 && length + line.length > BATCH_CHARACTERS) break;
      length += line.length;
      count++;
    }
    return this.#queue.splice(0, count).join('');
  }

  #written(batch: string): void {
    this.#characters -= batch.length;
    const dropped = this.#unreportedDrops;
    this.#unreportedDrops = 0;
    if (dropped > 0) this.#onRecovered(dropped);
    this.#pump();
  }

  /** Opens the stream again for the retry: by then a pipe may have a reader again, or a disk free space. */
  #retry(batch: string): void {
    this.#sink = undefined;
    this.#queue.unshift(batch);
    setTimeout(() => this.#pump(), RETRY_MS).unref();
  }
}

function openSink(fd: 1 | 2): Sink {
  try {
    const stat = fstatSync(fd);
    if (stat.isFIFO() || stat.isSocket()) return toSocket(stat.isFIFO() ? openNonBlocking(fd) : fd);
    // Writes to a terminal block only while a person has stopped it.
    if (isatty(fd)) return (text, done) => void (fd === 1 ? process.stdout : process.stderr).write(text, done);
  } catch (error) {
    return (_, done) => void setImmediate(done, error as Error);
  }
  // One write at a time: a disk that hangs holds one thread of Node’s pool, not all.
  return (text, done) => toFile(fd, Buffer.from(text), done);
}

/**
 * Opens a second descriptor of the same pipe. Whether writes block is a property of the open file description, and the
 * original one is shared with other processes. Returns the original where opening fails, as after a change of the user.
 */
function openNonBlocking(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') throw error; // The pipe has no reader.
    return fd;
  }
}

function toSocket(fd: number): Sink {
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.on('error', () => {}); // The callback of the failed write gets the error.
  return (text, done) => void socket.write(text, done);
}

function toFile(fd: number, bytes: Buffer, done: (error?: Error | null) => void): void {
  writeToFile(fd, bytes, (error, written) => {
    if (error || written === bytes.length) done(error);
    else toFile(fd, bytes.subarray(written), done);
  });
}
