// Challenges: a session that serves what another agent of its credential asks for shows that it is alive, or ends.

import type { NodeRef } from './routes.ts';

/** A session that serves an address. */
export interface ServingSession {
  readonly sessionId: string;
  readonly node: NodeRef;
}

export interface SessionChallenges {
  /**
   * Asks the agent of a session for a sign of life. Without one, for as long as a challenge takes, its session ends.
   * @returns whether the session is over, and what it served is free for its credential; false, too, where its node does not answer.
   */
  challenge(session: ServingSession): Promise<boolean>;
}
