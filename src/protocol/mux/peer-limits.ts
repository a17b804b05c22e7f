// What a peer may send and open, beyond what the windows of its streams bound. Numbers alone: it is counted for each frame.

import { ErrorCode, ProtocolError } from './stream.ts';

/** Streams that an agent may open at once, and from then on in a second: each costs work, even when it is reset at once. */
const OPENS_MAX = 2048;
const OPENS_PER_SECOND = 100;
/**
 * What the peer may send for each byte of data, either way, and besides. An SDK of the field answers a byte with credit of
 * 12 bytes; who sends more than that sends frames that do nothing.
 */
const FRAMING_MAX = 16;
const FRAMING_FREE = 1024 * 1024;

/** What a peer may do of whom nothing is known yet. Whoever does more is no agent, and the session ends. */
export interface UnauthenticatedLimits {
  /** Bytes that it may send, frames and all. */
  bytes: number;
  /** Streams that it may have open. */
  streams: number;
}

/** The limits of one session. All that throws is a `ProtocolError` (ENHANCE_CALM), which ends it. */
export class PeerLimits {
  #unauthenticated: UnauthenticatedLimits | undefined;
  readonly #now: () => number;
  /** Streams that may be opened now. */
  #opens: number;
  #opensAt: number;
  #dataBytes = 0;

  /** @param isAgent whether the peer is an agent; a gateway may open as many streams as there are visitors. */
  constructor(isAgent: boolean, unauthenticated: UnauthenticatedLimits | undefined, now: () => number) {
    this.#unauthenticated = unauthenticated;
    this.#now = now;
    this.#opens = isAgent ? OPENS_MAX : Number.POSITIVE_INFINITY;
    this.#opensAt = now();
  }

  /** The peer is who it says it is: the limits for unauthenticated peers no longer apply. */
  markAuthenticated(): void {
    this.#unauthenticated = undefined;
  }

  /** Counts data of either side. */
  countData(bytes: number): void {
    this.#dataBytes += bytes;
  }

  /** @param received in all, before it is read. @throws {ProtocolError} */
  checkBytes(received: number): void {
    if (this.#unauthenticated && received > this.#unauthenticated.bytes)
      throw enhanceCalm('so much may be sent only after authentication');
  }

  /** @param received in all, when it was read. @throws {ProtocolError} */
  checkFraming(received: number): void {
    if (received > FRAMING_MAX * this.#dataBytes + FRAMING_FREE) throw enhanceCalm('most frames do nothing');
  }

  /** The peer opens a stream. @param streams that it has open already. @throws {ProtocolError} */
  countOpen(streams: number): void {
    if (--this.#opens < 0) this.#refill();
    if (this.#unauthenticated && streams >= this.#unauthenticated.streams)
      throw enhanceCalm('before authentication there is one call at a time');
  }

  #refill(): void {
    const now = this.#now();
    this.#opens = Math.min(this.#opens + Math.floor(((now - this.#opensAt) * OPENS_PER_SECOND) / 1000), OPENS_MAX);
    this.#opensAt = now;
    if (this.#opens < 0) throw enhanceCalm('too many streams are opened');
  }
}

function enhanceCalm(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.ENHANCE_CALM, message);
}
