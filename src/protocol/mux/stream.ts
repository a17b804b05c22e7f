// The interface of a byte stream in a mux session.

/** The error codes of the wire: the reasons why a stream or a session ended. */
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

/** The events of a stream. They are called synchronously and in the order of the wire, and never after `onReset`. */
export interface StreamEvents {
  /**
   * Called with data of the peer. The user calls `consumed` when it has processed the bytes, which lets the peer send more.
   * So the stream's window bounds the bytes that a user buffers.
   */
  onData(chunk: Buffer): void;
  /** Called when the peer has ended its side of the stream. */
  onEnd(): void;
  /** Called when the stream is reset before both sides have ended. Nothing can be sent or received any more. */
  onReset(code: ErrorCode): void;
  /** Called when the stream takes more data, after a `write` that returned false. */
  onDrain(): void;
}

/**
 * A bidirectional byte stream between the gateway and an upstream behind an agent. It has plain callbacks, as a Node stream
 * would be most of the cost on the hot path.
 */
export interface ByteStream {
  /** The receiver of the events. It may be replaced at any time and must be set before control returns to the event loop. */
  events: StreamEvents;
  /**
   * Accepts all of `chunk`, which must not be changed afterwards.
   * @returns false when the caller should wait for `onDrain` before the next one.
   */
  write(chunk: Buffer): boolean;
  /** Ends our side. Data that was written before is still delivered. */
  end(): void;
  /** Aborts both directions. No event follows. */
  reset(code?: ErrorCode): void;
  /** Reports that the user has processed so many bytes from `onData`. */
  consumed(bytes: number): void;
}

/** A violation of the protocol by the peer. It ends the session, as later bytes cannot be interpreted. */
export class ProtocolError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
