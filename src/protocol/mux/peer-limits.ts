// Limits of a peer beyond the windows of its streams. They are plain counters, as they are checked for each frame.

import { ErrorCode, ProtocolError } from './stream.ts';

/**
 * The rate limit of streams that an agent opens: burst, and streams per second. Each costs work, even when it is reset
 * at once.
 */
const OPEN_BURST = 2048;
const OPENS_PER_SECOND = 100;
/**
 * The bytes that a peer may send for each byte of data in either direction, and the bytes that it may send in addition. An
 * existing SDK sends 12 bytes of window update for one byte of data; a peer far beyond that floods us with empty frames.
 */
const OVERHEAD_RATIO_MAX = 16;
const OVERHEAD_ALLOWANCE = 1024 * 1024;

/** The limits of a peer before authentication. The session of a peer that exceeds them ends. */
export interface UnauthenticatedLimits {
  /** The most bytes that it may send, including frame headers. */
  bytes: number;
  /** The most streams that it may have open. */
  streams: number;
}

/** The limits of one session. Each check throws a `ProtocolError` (ENHANCE_CALM), which ends the session. */
export class PeerLimits {
  #unauthenticated: UnauthenticatedLimits | undefined;
  readonly #now: () => number;
  /** The tokens of the rate limit for opened streams, and when they were refilled last. */
  #openTokens: number;
  #refilledAt: number;
  #dataBytes = 0;

  /** @param limitsOpens whether the rate of opened streams is limited. A gateway opens a stream for each visitor, without a limit. */
  constructor(limitsOpens: boolean, unauthenticated: UnauthenticatedLimits | undefined, now: () => number) {
    this.#unauthenticated = unauthenticated;
    this.#now = now;
    this.#openTokens = limitsOpens ? OPEN_BURST : Number.POSITIVE_INFINITY;
    this.#refilledAt = now();
  }

  /** Lifts the limits of unauthenticated peers. */
  markAuthenticated(): void {
    this.#unauthenticated = undefined;
  }

  /** Counts bytes of data of either side. */
  countData(bytes: number): void {
    this.#dataBytes += bytes;
  }

  /** Checks the bytes before they are parsed. @param received all bytes of the peer so far. @throws {ProtocolError} */
  checkBytes(received: number): void {
    if (this.#unauthenticated && received > this.#unauthenticated.bytes)
      throw enhanceCalm('too many bytes before authentication');
  }

  /**
   * Checks the overhead after the bytes were parsed.
   * @param received all bytes of the peer so far.
   * @throws {ProtocolError}
   */
  checkOverhead(received: number): void {
    if (received > OVERHEAD_RATIO_MAX * this.#dataBytes + OVERHEAD_ALLOWANCE)
      throw enhanceCalm('too many frames without data');
  }

  /**
   * Checks and counts a stream that the peer opens.
   * @param streams the number of its open streams.
   * @throws {ProtocolError}
   */
  countOpen(streams: number): void {
    if (--this.#openTokens < 0) this.#refill();
    if (this.#unauthenticated && streams >= this.#unauthenticated.streams)
      throw enhanceCalm('too many streams before authentication');
  }

  #refill(): void {
    const now = this.#now();
    this.#openTokens = Math.min(
      this.#openTokens + Math.floor(((now - this.#refilledAt) * OPENS_PER_SECOND) / 1000),
      OPEN_BURST,
    );
    this.#refilledAt = now;
    if (this.#openTokens < 0) throw enhanceCalm('streams are opened too fast');
  }
}

function enhanceCalm(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.ENHANCE_CALM, message);
}
