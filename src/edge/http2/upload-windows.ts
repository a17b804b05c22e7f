// The bodies of requests on one connection: what waits of them, and how much each may send before it has to wait.
//
// A window holds up a visitor who is far away, or whose program stops at its end until it is told to go on, as many do: so
// it grows where upstreams take what comes. Node knows one window for all streams of a connection (RFC 9113, section 6.9.2).

import type { ServerHttp2Session } from 'node:http2';
import type { ByteBudget } from '../../protocol/byte-budget.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';

/** What each request may have sent without being read, in bytes. */
export const STREAM_WINDOW = 256 * 1024;
/** What the requests of a connection may be allowed beyond that where all is read quickly, together. */
export const GROWN_WINDOW_MAX = 4 * 1024 * 1024;
/** Requests at once. */
export const STREAMS_MAX = 100;
/** What may wait on one connection. Whoever sends more has taken no notice of a window that was made smaller. */
const WAITING_MAX = STREAMS_MAX * STREAM_WINDOW + GROWN_WINDOW_MAX;
/** A window is what its upstream takes in such a time, in milliseconds. */
const INTERVAL = 250;
/** A window changes where what is taken is so many times as much, or as little; it is not the same all the time. */
const STEP = 4;

export class UploadWindows {
  readonly #session: ServerHttp2Session;
  readonly #slot: ConnectionSlot;
  /** What the windows of all connections may have grown by. */
  readonly #growth: ByteBudget;
  #underWay = 0;
  #waiting = 0;
  #window = STREAM_WINDOW;
  /** Bytes that upstreams have taken since then. */
  #passed = 0;
  #since: number;

  constructor(session: ServerHttp2Session, slot: ConnectionSlot, growth: ByteBudget, now: number) {
    this.#session = session;
    this.#slot = slot;
    this.#growth = growth;
    this.#since = now;
  }

  /** Whether more waits than may. */
  get isTooMuch(): boolean {
    return this.#waiting > WAITING_MAX;
  }

  /** One has come. */
  begin(): void {
    this.#underWay++;
  }

  /** One is over. */
  end(): void {
    this.#underWay--;
  }

  /** So many bytes were given to an upstream. */
  pass(bytes: number): void {
    this.#passed += bytes;
    // The first upload need not wait for the time to be over.
    if (this.#passed >= this.#window * STEP * this.#underWay) this.#grow(this.#wanted(this.#passed));
  }

  /** So many bytes were read that no upstream takes for now. */
  hold(bytes: number): void {
    this.#waiting += bytes;
    this.#slot.hold(bytes);
  }

  release(bytes: number): void {
    this.#waiting -= bytes;
    this.#slot.release(bytes);
  }

  /** Makes the window what upstreams take; to be called now and then. */
  adapt(now: number): void {
    // While a change is not acknowledged there can be no other: the next call measures over a longer time.
    if (now - this.#since < INTERVAL || !this.#canChange) return;
    const wanted = this.#wanted((this.#passed * INTERVAL) / (now - this.#since));
    this.#since = now;
    this.#passed = 0;
    const isUnused =
      this.#underWay === 0 || this.#window >= wanted * STEP || this.#window * this.#underWay > GROWN_WINDOW_MAX;
    if (wanted > this.#window) this.#grow(wanted);
    else if (wanted < this.#window && isUnused) this.#shrink(wanted);
  }

  /** Gives back what the window has grown by. */
  close(): void {
    this.#growth.give(this.#window - STREAM_WINDOW);
    this.#window = STREAM_WINDOW;
  }

  /** @param passed bytes in an interval, of all requests. */
  #wanted(passed: number): number {
    const most = Math.min(passed, GROWN_WINDOW_MAX) / Math.max(1, this.#underWay);
    return Math.max(STREAM_WINDOW, 2 ** Math.floor(Math.log2(Math.max(1, most))));
  }

  #grow(window: number): void {
    if (window <= this.#window || !this.#canChange || !this.#growth.take(window - this.#window)) return;
    this.#change(window);
  }

  #shrink(window: number): void {
    if (!this.#canChange) return;
    this.#growth.give(this.#window - window);
    this.#change(window);
  }

  /** Node destroys a session with many settings that are not acknowledged. */
  get #canChange(): boolean {
    const { closed, destroyed, pendingSettingsAck } = this.#session;
    return !closed && !destroyed && !pendingSettingsAck;
  }

  #change(window: number): void {
    this.#window = window;
    this.#session.settings({ initialWindowSize: window });
  }
}
