// One stream of a mux session: flow control in both directions, and the half-closed states.

import { type ByteStream, ErrorCode, type StreamEvents } from './stream.ts';
import { INITIAL_WINDOW, type WindowBudget, WindowGrowth } from './window.ts';

/** The part of a session that its streams use. */
export interface StreamCarrier {
  /** A monotonic clock, in milliseconds. */
  now(): number;
  /** The bytes that the stream may send now. After a 0, the session calls `resume` once more may be sent. */
  writableBytes(stream: MuxStream): number;
  sendData(id: number, body: Buffer, opens: boolean, ends: boolean): void;
  sendReset(id: number, code: ErrorCode): void;
  sendWindow(id: number, increment: number): void;
  /** Forgets a closed stream. */
  removeStream(stream: MuxStream): void;
  /** Reports a defect of the stream's user. */
  report(error: unknown): void;
}

/** Ignores all events: for a stream that has no user yet, or none any more. */
export const noopStreamEvents: StreamEvents = { onData() {}, onEnd() {}, onReset() {}, onDrain() {} };

/** Resets a stream whose data nobody needs any more. Its user gets no further events. */
export function cancelStream(stream: ByteStream): void {
  stream.events = noopStreamEvents;
  stream.reset(ErrorCode.CANCELLED);
}

/** Credit is granted in steps of this size, in bytes: a window update for every read would cost too many frames. */
const CREDIT_STEP = 64 * 1024;
const CREDIT_MAX = 0x7fff_ffff;

/**
 * A stream with credit-based flow control: each side may send as many bytes as the other has granted. A write spends credit
 * and waits when none is left; `consumed` grants new credit. So a slow reader slows down its own writer only.
 */
export class MuxStream implements ByteStream {
  events: StreamEvents;
  readonly id: number;
  /** Whether its bytes go before those that wait for the link: heartbeats and calls do, which are few. */
  isUrgent = false;
  /**
   * Called once, when the peer has read more than the head of a stream that we opened, or has sent data: then it serves
   * the stream.
   */
  onAcknowledged: (() => void) | undefined;
  /**
   * The bytes at the start that the peer reads before it knows the stream's target. Credit for these acknowledges
   * nothing.
   */
  headBytes = 0;
  /** Called once, when the stream is closed. */
  onClosed: (() => void) | undefined;

  readonly #session: StreamCarrier;
  readonly #growth: WindowGrowth;
  /** The bytes that we may still send. */
  #credit = INITIAL_WINDOW;
  /** The bytes that the peer has read; counted only until the stream is acknowledged. */
  #peerRead = 0;
  /** The bytes that the peer may still send. */
  #granted = INITIAL_WINDOW;
  /** The bytes that the user has consumed and for which the peer has no new credit yet. */
  #consumed = 0;
  /** Chunks that were written but not sent yet, the oldest first. */
  #pending: Buffer[] = [];
  #opened: boolean;
  #needsDrain = false;
  #ending = false;
  #sentEnd = false;
  #receivedEnd = false;
  #closed = false;

  constructor(session: StreamCarrier, id: number, opened: boolean, budget: WindowBudget, events: StreamEvents) {
    this.#session = session;
    this.id = id;
    this.#opened = opened;
    this.#growth = new WindowGrowth(budget);
    this.events = events;
  }

  /** Whether the stream was reset, or ended by both sides. */
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
    this.#needsDrain = true;
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
    if (this.#consumed < CREDIT_STEP || this.#receivedEnd) return;
    const credit = this.#consumed + this.#growth.afterConsuming(this.#consumed, this.#session.now());
    this.#consumed = 0;
    this.#granted += credit;
    this.#session.sendWindow(this.id, credit);
  }

  /** Handles data of the peer. @param ends whether the peer has ended the stream with it. */
  receive(chunk: Buffer, ends: boolean): void {
    this.#acknowledge();
    if (this.#receivedEnd) return void this.#fail(ErrorCode.STREAM_CLOSED);
    if (chunk.length > this.#granted) return void this.#fail(ErrorCode.FLOW_CONTROL);
    this.#granted -= chunk.length;
    if (ends) this.#receivedEnd = true;
    try {
      if (chunk.length > 0) this.events.onData(chunk);
      if (!ends || this.#closed) return;
      this.events.onEnd();
      this.#closeIfDone();
    } catch (error) {
      this.failUnexpectedly(error);
    }
  }

  /** Handles a window update of the peer. */
  receiveCredit(bytes: number): void {
    if (this.onAcknowledged) {
      this.#peerRead += bytes;
      if (this.#peerRead > this.headBytes) this.#acknowledge();
    }
    this.#credit += bytes;
    if (this.#credit > CREDIT_MAX) this.#fail(ErrorCode.FLOW_CONTROL);
    else this.resume();
  }

  /** Handles a reset by the peer, or the end of the session. */
  receiveReset(code: ErrorCode): void {
    if (this.#closed) return;
    this.#acknowledge();
    this.#close();
    this.#emitReset(this.events, code);
  }

  /** Continues to send pending chunks. @returns whether the stream has credit but must wait for the connection. */
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
    else if (this.#needsDrain) {
      this.#needsDrain = false;
      try {
        this.events.onDrain();
      } catch (error) {
        this.failUnexpectedly(error);
      }
    }
    return false;
  }

  /** Sends as much as credit and connection allow. @returns the remaining bytes; undefined when all were sent. */
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

  /** Ends the stream after a defect of its user. The session with its other streams stays open. */
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
    if (this.#sentEnd && this.#receivedEnd) this.#close();
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
