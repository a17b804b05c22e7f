// One stream of a session: credit in both directions, and the two halves of its life.

import { type ByteStream, ErrorCode, type StreamEvents } from './stream.ts';
import { INITIAL_WINDOW, type WindowBudget, WindowGrowth } from './window.ts';

/** What a stream needs of its session. */
export interface StreamCarrier {
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  /** How much may be sent now. A stream that is told 0 is resumed when there is room again. */
  writableBytes(stream: MuxStream): number;
  sendData(id: number, body: Buffer, opens: boolean, ends: boolean): void;
  sendReset(id: number, code: ErrorCode): void;
  sendWindow(id: number, increment: number): void;
  /** The stream is over. */
  removeStream(stream: MuxStream): void;
  /** Tells of an exception of the stream's user that nobody expected. */
  report(error: unknown): void;
}

/** What is told nobody: of a stream that has no user any more, or not yet. */
export const noopStreamEvents: StreamEvents = { onData() {}, onEnd() {}, onReset() {}, onDrain() {} };

/** Breaks a stream: what it carries is of no use to anybody any more. */
export function cancelStream(stream: ByteStream): void {
  stream.events = noopStreamEvents;
  stream.reset(ErrorCode.CANCELLED);
}

/** Credit is given back when so much of it has come together: a frame for every read would cost more than it is worth. */
const CREDIT_STEP = 64 * 1024;
const CREDIT_MAX = 0x7fff_ffff;

/**
 * A stream. Each side may send as many bytes as the other has granted; writing spends that credit and waits when it runs
 * out, `consumed` grants it anew. A slow reader therefore slows its own writer, and nobody else.
 */
export class MuxStream implements ByteStream {
  events: StreamEvents;
  readonly id: number;
  /** Called once, when the peer has read more than the head of a stream that we opened, or answers: it is being served. */
  onAcknowledged: (() => void) | undefined;
  /** How much of it the peer reads before it knows whom the stream is for: to have read that much says nothing yet. */
  headBytes = 0;
  /** Called once, when the stream is over for the session. */
  onClosed: (() => void) | undefined;

  readonly #session: StreamCarrier;
  readonly #growth: WindowGrowth;
  /** Bytes we may still send. */
  #credit = INITIAL_WINDOW;
  /** Bytes that the peer has read, while somebody waits to hear of it. */
  #read = 0;
  /** Bytes the peer may still send. */
  #granted = INITIAL_WINDOW;
  /** Bytes the user is done with, for which the peer has no new credit yet. */
  #consumed = 0;
  /** What was written and could not be sent yet, oldest first. */
  #pending: Buffer[] = [];
  #opened: boolean;
  #wantsDrain = false;
  #ending = false;
  #sentEnd = false;
  #gotEnd = false;
  #closed = false;

  constructor(session: StreamCarrier, id: number, opened: boolean, budget: WindowBudget, events: StreamEvents) {
    this.#session = session;
    this.id = id;
    this.#opened = opened;
    this.#growth = new WindowGrowth(budget);
    this.events = events;
  }

  /** Whether it is over: broken, or ended by both sides. */
  get isClosed(): boolean {
    return this.#closed;
  }

  write(chunk: Buffer): boolean {
    if (this.#closed || this.#ending) return true;
    if (this.#pending.length > 0) {
      this.#pending.push(chunk);
      return false;
    }
    const rest = this.#send(chunk);
    if (rest === undefined) return true;
    this.#pending.push(rest);
    this.#wantsDrain = true;
    return false;
  }

  end(): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    if (this.#pending.length === 0) this.#sendEnd();
  }

  reset(code: ErrorCode = ErrorCode.CANCELLED): void {
    if (this.#closed) return;
    if (this.#opened) this.#session.sendReset(this.id, code);
    this.#close();
  }

  consumed(bytes: number): void {
    if (this.#closed || bytes === 0) return;
    this.#consumed += bytes;
    if (this.#consumed < CREDIT_STEP || this.#gotEnd) return;
    const credit = this.#consumed + this.#growth.afterConsuming(this.#consumed, this.#session.now());
    this.#consumed = 0;
    this.#granted += credit;
    this.#session.sendWindow(this.id, credit);
  }

  /** Data of the peer. */
  receive(piece: Buffer, ends: boolean): void {
    this.#acknowledge();
    if (this.#gotEnd) return void this.#fail(ErrorCode.STREAM_CLOSED);
    if (piece.length > this.#granted) return void this.#fail(ErrorCode.FLOW_CONTROL);
    this.#granted -= piece.length;
    if (ends) this.#gotEnd = true;
    try {
      if (piece.length > 0) this.events.onData(piece);
      if (!ends || this.#closed) return;
      this.events.onEnd();
      this.#closeIfDone();
    } catch (error) {
      this.failUnexpectedly(error);
    }
  }

  /** New credit from the peer. */
  receiveCredit(bytes: number): void {
    if (this.onAcknowledged) {
      this.#read += bytes;
      if (this.#read > this.headBytes) this.#acknowledge();
    }
    this.#credit += bytes;
    if (this.#credit > CREDIT_MAX) this.#fail(ErrorCode.FLOW_CONTROL);
    else this.resume();
  }

  /** The peer, or the end of the session, broke the stream. */
  receiveReset(code: ErrorCode): void {
    if (this.#closed) return;
    this.#acknowledge();
    this.#close();
    this.#emitReset(this.events, code);
  }

  /** Goes on sending what waits, as far as there is credit and room. @returns whether it still waits for room. */
  resume(): boolean {
    while (this.#pending.length > 0) {
      const rest = this.#send(this.#pending[0] as Buffer);
      if (rest !== undefined) {
        this.#pending[0] = rest;
        return this.#credit > 0;
      }
      this.#pending.shift();
    }
    if (this.#ending) this.#sendEnd();
    else if (this.#wantsDrain) {
      this.#wantsDrain = false;
      try {
        this.events.onDrain();
      } catch (error) {
        this.failUnexpectedly(error);
      }
    }
    return false;
  }

  /** Sends what credit and the session allow. @returns what is left over. */
  #send(chunk: Buffer): Buffer | undefined {
    let rest = chunk;
    while (rest.length > 0) {
      const bytes = this.#credit > 0 ? Math.min(rest.length, this.#credit, this.#session.writableBytes(this)) : 0;
      if (bytes === 0) return rest;
      this.#credit -= bytes;
      this.#session.sendData(this.id, bytes === rest.length ? rest : rest.subarray(0, bytes), !this.#opened, false);
      this.#opened = true;
      if (bytes === rest.length) return undefined;
      rest = rest.subarray(bytes);
    }
    return undefined;
  }

  #sendEnd(): void {
    if (this.#sentEnd) return;
    this.#sentEnd = true;
    this.#session.sendData(this.id, EMPTY, !this.#opened, true);
    this.#opened = true;
    this.#closeIfDone();
  }

  #fail(code: ErrorCode): void {
    this.reset(code);
    this.#emitReset(this.events, code);
  }

  /** What its user met and did not expect ends this stream, not the session that carries it with all others. */
  failUnexpectedly(error: unknown): void {
    this.#session.report(error);
    const { events } = this;
    cancelStream(this);
    this.#emitReset(events, ErrorCode.RESET);
  }

  #emitReset(events: StreamEvents, code: ErrorCode): void {
    try {
      events.onReset(code);
    } catch (error) {
      this.#session.report(error);
    }
  }

  #acknowledge(): void {
    const callback = this.onAcknowledged;
    if (!callback) return;
    this.onAcknowledged = undefined;
    callback();
  }

  #closeIfDone(): void {
    if (this.#sentEnd && this.#gotEnd) this.#close();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending = [];
    this.#growth.release();
    this.#session.removeStream(this);
    this.onAcknowledged = undefined;
    this.onClosed?.();
  }
}

const EMPTY = Buffer.alloc(0);
