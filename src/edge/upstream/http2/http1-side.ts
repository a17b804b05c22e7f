// The end of a stream that its user does not see: a Node stream, whose other side is plain callbacks.

import { Duplex } from 'node:stream';
import { reportDefect } from '../../../protocol/defect.ts';
import { noopStreamEvents } from '../../../protocol/mux/mux-stream.ts';
import { ErrorCode, type StreamEvents } from '../../../protocol/mux/stream.ts';

/** What the user may have been given without being done with it, in bytes. */
const WINDOW = 256 * 1024;

export class Http1Side extends Duplex {
  events: StreamEvents;
  /** Set while a request is under way. */
  isBusy = false;
  readonly #codeOf: () => ErrorCode;
  #unconsumed = 0;
  #written: (() => void) | undefined;
  #wantsDrain = false;
  #isGivenEnd = false;

  /** @param codeOf says why the service cannot be reached any more. */
  constructor(events: StreamEvents, codeOf: () => ErrorCode) {
    super({ allowHalfOpen: true });
    this.events = events;
    this.#codeOf = codeOf;
    this.on('error', () => {}); // `close` follows.
  }

  /** Takes bytes of the user. @returns false when the next ones should wait. */
  receive(chunk: Buffer): boolean {
    if (this.#isGivenEnd || this.destroyed || this.push(chunk)) return true;
    this.#wantsDrain = true;
    return false;
  }

  receiveEnd(): void {
    if (this.#isGivenEnd || this.destroyed) return;
    this.#isGivenEnd = true;
    this.push(null);
  }

  consumed(bytes: number): void {
    this.#unconsumed -= bytes;
    if (this.#unconsumed >= WINDOW) return;
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  /** The service takes no more requests: that is an end, unless one is under way. */
  endIfIdle(): void {
    if (!this.isBusy && !this.destroyed) this.end();
  }

  override _read(): void {
    if (!this.#wantsDrain) return;
    this.#wantsDrain = false;
    this.#guarded(() => this.events.onDrain());
  }

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    this.#unconsumed += chunk.length;
    if (this.#unconsumed < WINDOW) written();
    else this.#written = written;
    this.#guarded(() => this.events.onData(chunk));
  }

  override _final(done: () => void): void {
    done();
    this.#guarded(() => this.events.onEnd());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    done(error);
    if (!this.writableFinished || !this.#isGivenEnd) this.#guarded(() => this.events.onReset(this.#codeOf()));
  }

  /** An exception of the user's ends what the user has here, and nothing else. */
  #guarded(event: () => void): void {
    try {
      event();
    } catch (error) {
      reportDefect(error);
      const { events } = this;
      this.events = noopStreamEvents;
      this.abort();
      if (events !== noopStreamEvents) this.#guarded(() => events.onReset(ErrorCode.RESET));
    }
  }

  /** Breaks it. Not at once, as it may be within a write: Node does not expect that there. */
  abort(): void {
    process.nextTick(() => this.destroy());
  }
}
