// What is asked of the agents of sessions, on whatever node: remote commands, which stop, restart or update an agent, and signs of life.

import type { NodeRef } from './routes.ts';

/** A command to an agent, which may refuse it. */
export type SessionCommand =
  | { kind: 'stop' }
  | { kind: 'restart' }
  /** `version` is the version to install; '' is the latest. */
  | { kind: 'update'; version: string; permitMajorVersion: boolean };

/** Of the gateway itself: the agent is to have its tunnels in a session with another process of the gateway, before this one ends. */
export type AgentCommand = SessionCommand | { kind: 'move' };

/** The causes of a session's end after a command, for people. */
export const commandCauses = {
  stop: 'it was stopped through the API',
  restart: 'it was told to start anew through the API',
  update: 'it was told to change its version through the API',
  move: 'it has moved to another process of the gateway',
};

/** The outcome of a command: the agent agreed, refused with a reason, or did not answer in time. */
export type CommandOutcome = 'done' | { refused: string } | 'unreachable';

/** Sends commands to sessions. */
export interface SessionCommands {
  /**
   * Sends a command and waits for the answer. The outcome for an unknown session is `unreachable`.
   * @param node the node of the session, where that is known.
   */
  command(sessionId: string, command: SessionCommand, node?: NodeRef): Promise<CommandOutcome>;
}

/** A session that serves an address. */
export interface ServingSession {
  readonly sessionId: string;
  readonly node: NodeRef;
}

/** Challenges sessions: one that serves what another agent of its credential asks for shows that it is alive, or ends. */
export interface SessionChallenges {
  /**
   * Asks the agent of a session for a sign of life. Without one, for as long as a challenge takes, its session ends.
   * @returns whether the session is over, and what it served is free for its credential; false, too, where its node does not answer.
   */
  challenge(session: ServingSession): Promise<boolean>;
}
