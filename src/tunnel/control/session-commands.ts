// What an agent can be told from afar, and who tells it.

/** What a session is to do. Whether its agent does it is the agent's own decision. */
export type SessionCommand =
  | { kind: 'stop' }
  | { kind: 'restart' }
  /** `version`: the version to change to; '' is the newest. */
  | { kind: 'update'; version: string; permitMajorVersion: boolean };

/** Why an agent says good-bye that was told to, for people. */
export const commandCauses = {
  stop: 'it was stopped through the API',
  restart: 'it was told to start anew through the API',
  update: 'it was told to change its version through the API',
};

/** What became of a command: the agent agreed, gave a reason why not, or did not answer in time. */
export type CommandOutcome = 'done' | { refused: string } | 'unreachable';

export interface SessionCommands {
  /** Tells a session, and waits for its answer. A session that is not there is `unreachable`. */
  command(sessionId: string, command: SessionCommand): Promise<CommandOutcome>;
}
