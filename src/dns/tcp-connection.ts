// One connection over TCP: any number of questions, each with its length before it, which may be sent without waiting for answers.
// Answers come in the order in which they are ready (RFC 7766 section 6.2.1.1); their ids say which question each is for.

import type { Socket } from 'node:net';
import type { Schedule } from '../runtime/schedule.ts';
import { MESSAGE_HEADER_BYTES, type Query, readQuery } from './codec/query.ts';

const LENGTH_BYTES = 2;
/** The longest question with all that EDNS may add is shorter. */
const QUERY_BYTES_MAX = 4096;
/** What a message over TCP can be. */
const ANSWER_BYTES_MAX = 65_535;
/** Questions that are being answered at once. */
const CONCURRENT_MAX = 16;
/** Answers that the client has not taken yet; with more, no further question is read. */
const UNSENT_BYTES_MAX = 65_536;
/** How long a connection may be without a whole question; milliseconds. */
const IDLE_MS = 10_000;

export interface TcpConnectionOptions {
  respond(query: Query, maxBytes: number): Promise<Buffer>;
  schedule: Schedule;
  /** A question came. */
  onQuery(): void;
  /** Something came that is no question. */
  onIgnored(): void;
}

export class TcpConnection {
  readonly #socket: Socket;
  readonly #options: TcpConnectionOptions;
  /** Less than one question, unless it waits until others are answered. */
  #received = Buffer.alloc(0);
  #answering = 0;
  #isEnding = false;
  #cancelIdle: () => void = () => {};

  constructor(socket: Socket, options: TcpConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#waitForQuery();
    socket.on('error', () => {}); // 'close' follows.
    socket.on('close', () => this.#cancelIdle());
    socket.on('drain', () => this.#read());
    socket.on('end', () => this.finish());
    socket.on('data', (chunk) => {
      if (socket.writableEnded) return; // What comes behind the end is not answered any more.
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#read();
    });
  }

  /** Whether nothing is being answered. */
  get isIdle(): boolean {
    return this.#answering === 0;
  }

  /** Ends the connection when all that came so far is answered. */
  finish(): void {
    this.#isEnding = true;
    this.#read();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Takes as many questions out of what has come as may be answered at once, and stops reading where there are more. */
  #read(): void {
    if (this.#socket.destroyed) return;
    while (this.#mayAnswer() && this.#hasMessage()) {
      const end = LENGTH_BYTES + this.#received.readUInt16BE(0);
      const packet = this.#received.subarray(LENGTH_BYTES, end);
      this.#received = this.#received.subarray(end);
      this.#take(packet);
    }
    if (this.#socket.destroyed) return;
    if (this.#hasMessage()) this.#socket.pause();
    else if (!this.#isEnding) this.#socket.resume();
    else if (this.#answering === 0) this.#socket.end();
  }

  #mayAnswer(): boolean {
    return this.#answering < CONCURRENT_MAX && this.#socket.writableLength < UNSENT_BYTES_MAX;
  }

  /** Whether a whole message has come. One of a length that no question has means that this is not DNS. */
  #hasMessage(): boolean {
    if (this.#received.length < LENGTH_BYTES) return false;
    const length = this.#received.readUInt16BE(0);
    if (length >= MESSAGE_HEADER_BYTES && length <= QUERY_BYTES_MAX)
      return this.#received.length >= LENGTH_BYTES + length;
    this.#options.onIgnored();
    this.destroy();
    return false;
  }

  #take(packet: Buffer): void {
    const query = readQuery(packet);
    if (!query) return void this.#options.onIgnored();
    this.#options.onQuery();
    this.#waitForQuery();
    this.#answering++;
    void this.#options.respond(query, ANSWER_BYTES_MAX).then((answer) => {
      this.#answering--;
      if (this.#socket.destroyed) return;
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt16BE(answer.length);
      this.#socket.write(Buffer.concat([length, answer]));
      this.#read();
    });
  }

  /** A client that does not take its answers has no more questions read, and ends by this, too. */
  #waitForQuery(): void {
    this.#cancelIdle();
    this.#cancelIdle = this.#options.schedule(IDLE_MS, () => this.destroy());
  }
}
