import { Duplex } from 'node:stream';
import type { DatabaseWorker } from './database-worker.ts';

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const HEADER_BYTES = 5;
const SSL_REQUEST = 80_877_103;

const byte = (letter: string) => letter.charCodeAt(0);
const TERMINATE = byte('X');
/** Messages that get an answer. Others are held until one of these, so that a query is one call to the worker. */
const ANSWERED = new Set([byte('Q'), byte('S'), byte('H')]);

/** The server's answer to the start-up message: authentication succeeded, and its parameters. */
const GREETING = Buffer.concat([
  message('R', Buffer.from([0, 0, 0, 0])),
  ...Object.entries({
    server_version: '18.0',
    server_encoding: 'UTF8',
    client_encoding: 'UTF8',
    DateStyle: 'ISO, MDY',
    integer_datetimes: 'on',
    standard_conforming_strings: 'on',
    TimeZone: 'UTC',
  }).map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`))),
  message('K', Buffer.alloc(8)),
  message('Z', Buffer.from('I')),
]);

/**
 * A connection of the `pg` driver to the embedded database, with the interface of the socket that `pg` expects.
 * It splits the driver's bytes into whole messages, because the database takes an incomplete message for the end of the connection.
 * When the connection ends, in whatever way, the database resets its session state.
 * `COPY … FROM STDIN` must not be used: the database would wait for bytes that cannot reach it, and end.
 */
export class DatabaseStream extends Duplex {
  readonly #worker: DatabaseWorker;
  #rest: Buffer = Buffer.alloc(0);
  #started = false;
  #ended = false;

  constructor(worker: DatabaseWorker) {
    super();
    this.#worker = worker;
  }

  /** Like the following methods, a part of the socket interface that `pg` uses. */
  connect(): this {
    setImmediate(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this.#rest = Buffer.concat([this.#rest, ...chunks.map(({ chunk }) => chunk)]);
    try {
      if (!this.#started) this.#start();
      if (this.#started) this.#forward();
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _final(done: () => void): void {
    this.#end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#end();
    done(error);
  }

  #start(): void {
    if (this.#rest.length < 8) return;
    const length = this.#rest.readUInt32BE(0);
    if (length > MAX_MESSAGE_BYTES) throw new Error('not a start-up message');
    if (this.#rest.length < length) return;
    const code = this.#rest.readUInt32BE(4);
    this.#rest = this.#rest.subarray(length);
    if (code === SSL_REQUEST) {
      this.push('N');
      return;
    }
    this.#started = true;
    this.push(GREETING);
  }

  /** Sends every message up to the last one that gets an answer, and keeps the rest. */
  #forward(): void {
    let end = 0;
    let last = 0;
    for (let at = 0; at + HEADER_BYTES <= this.#rest.length; ) {
      const type = this.#rest.readUInt8(at);
      const length = this.#rest.readUInt32BE(at + 1);
      if (length < 4 || length > MAX_MESSAGE_BYTES) throw new Error(`a message of ${length} bytes is not possible`);
      const next = at + 1 + length;
      if (next > this.#rest.length) break;
      if (type === TERMINATE) {
        this.#end();
        this.push(null);
        return;
      }
      if (ANSWERED.has(type)) {
        end = next;
        last = type;
      }
      at = next;
    }
    if (end === 0) return;
    // A copy with its own buffer, which can be transferred to the worker.
    const bytes = new Uint8Array(end);
    bytes.set(this.#rest.subarray(0, end));
    this.#rest = this.#rest.subarray(end);
    this.#worker.execute(bytes, last).then(
      (answer) => {
        if (!this.#ended) this.push(answer);
      },
      (error) => this.destroy(error),
    );
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    // If the database is lost, there is nothing to reset.
    if (this.#started) this.#worker.reset().catch(() => undefined);
  }
}

function message(type: string, body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(type);
  header.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([header, body]);
}
