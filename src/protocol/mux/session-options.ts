// The options and events of a mux session.

import type { MuxStream } from './mux-stream.ts';
import type { UnauthenticatedLimits } from './peer-limits.ts';
import type { ErrorCode } from './stream.ts';

/** The callbacks of a session. */
export interface MuxSessionEvents {
  /** Called when the peer opens a stream. The callback must set the `events` of the stream before it returns. */
  onStream(stream: MuxStream): void;
  /**
   * Called once, when the session is closed and all of its streams were reset.
   * @param code NONE when a side closed the session on purpose; otherwise the reason of the failure.
   */
  onClose(code: ErrorCode, message: string): void;
  /**
   * Called with a defect. Without this callback it goes to the process's handler of uncaught exceptions. A defect of a
   * stream's user ends the stream; any other ends the session.
   */
  onDefect?(error: unknown): void;
}

/** The settings of one side of a session. */
export interface MuxSessionOptions {
  /** The agent is the client. A client opens streams with odd ids, a server with even ones. */
  role: 'client' | 'server';
  /** The most streams that the peer may have open. Each further one is reset with ACCEPT_QUEUE_FULL. */
  peerStreamsMax: number;
  /** Limits that apply until `limits.markAuthenticated` is called. Left out for a peer that is trusted from the start. */
  unauthenticatedLimits?: UnauthenticatedLimits;
  /** Whether the rate at which the peer opens streams is limited. Left out: that of a client is, as agents are. */
  limitsOpens?: boolean;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
}
