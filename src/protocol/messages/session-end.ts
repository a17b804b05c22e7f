// Why the gateway ends a session, as far as agents act on it.

/**
 * The agent is to connect again at once: another process of the gateway takes its place. The gateway ends few sessions at a time, and
 * its visitors wait.
 */
export const AGENT_MOVES = 'the agent moves to another process of the gateway';

/** How the reason begins when another connection with the same identity has taken the session's place; who it is follows. */
export const SESSION_REPLACED = 'replaced by a new session';
