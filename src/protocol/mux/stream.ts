// A byte stream inside a session, as its users see it.

/** Why a stream or a session ended: the error codes of the wire. */
export const ErrorCode = {
  NONE: 0,
  PROTOCOL: 1,
  INTERNAL: 2,
  FLOW_CONTROL: 3,
  STREAM_CLOSED: 4,
  REFUSED: 5,
  CANCELLED: 6,
  RESET: 7,
  FRAME_SIZE: 8,
  ACCEPT_QUEUE_FULL: 9,
  ENHANCE_CALM: 10,
  REMOTE_GONE_AWAY: 11,
  STREAMS_EXHAUSTED: 12,
  WRITE_TIMEOUT: 13,
  SESSION_CLOSED: 14,
  PEER_EOF: 15,
} as const;

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** What a user of a stream is told: synchronously, in the order of the wire, and never after `onReset`. */
export interface StreamEvents {
  /**
   * Bytes from the peer. Whoever is done with them says so with `consumed`, which lets the peer send more: bytes that
   * are kept are thereby bounded by the stream's window.
   */
  onData(chunk: Buffer): void;
  /** The peer has sent everything. */
  onEnd(): void;
  /** The stream broke before both sides had ended; nothing can be sent any more and nothing comes. */
  onReset(code: ErrorCode): void;
  /** There is room again, after a `write` that answered false. */
  onDrain(): void;
}

/**
 * Bytes both ways between the gateway and something behind an agent. Plain callbacks instead of a Node stream: on the
 * hot path that is most of the cost.
 */
export interface ByteStream {
  /** Who is told what happens; may be exchanged, but must be set before control returns to the event loop. */
  events: StreamEvents;
  /**
   * Takes all of `chunk`, which must not be changed afterwards.
   * @returns false when the caller should wait for `onDrain` before the next one.
   */
  write(chunk: Buffer): boolean;
  /** No more will be written; what was is still delivered. */
  end(): void;
  /** Gives up in both directions. No event follows. */
  reset(code?: ErrorCode): void;
  /** The user is done with so many bytes of what `onData` brought. */
  consumed(bytes: number): void;
}

/** What the peer did against the protocol. The session cannot go on, as its bytes no longer mean anything. */
export class ProtocolError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
