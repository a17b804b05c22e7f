// What a session is told, and what it tells.

import type { MuxStream } from './mux-stream.ts';
import type { UnauthenticatedLimits } from './peer-limits.ts';
import type { ErrorCode } from './stream.ts';

export interface MuxSessionEvents {
  /** The peer opened a stream. Its `events` have to be set before this returns. */
  onStream(stream: MuxStream): void;
  /**
   * The session is over; every stream was reset before. Told once.
   * @param code NONE where a side said good-bye; what went wrong otherwise.
   */
  onClose(code: ErrorCode, message: string): void;
  /**
   * Told of what should not have happened; left out: the process's last guard is. The stream ends whose user failed, and the
   * session where it was none of a stream's.
   */
  onDefect?(error: unknown): void;
}

export interface MuxSessionOptions {
  /** The agent is the client: it opens streams with odd ids. */
  role: 'client' | 'server';
  /** How many streams the peer may have open. More are refused, each by itself. */
  peerStreamsMax: number;
  /** Holds until `limits.trust` is called; left out where the peer is known from the start. */
  unauthenticatedLimits?: UnauthenticatedLimits;
  /** A clock that never goes back, in milliseconds. */
  now?: () => number;
}
