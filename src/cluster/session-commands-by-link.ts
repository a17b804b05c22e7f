// Sends commands to agents of other nodes over the links to these nodes.

import type { CommandOutcome, SessionCommand, SessionCommands } from '../tunnel/control/session-commands.ts';
import type { ClusterAccess } from './cluster-query.ts';

const SESSION_COMMAND = 'sessionCommand';
/** How long the other node may take, in milliseconds: it waits for its agent itself. */
const COMMAND_TIMEOUT_MS = 6000;

interface CommandCall {
  sessionId: string;
  command: SessionCommand;
}

interface CommandAnswer {
  outcome: CommandOutcome;
}

/**
 * Sends commands over the link to the node of the session, where that is known and there is a link; else as `others` does.
 * @param isOwn whether this node has a session.
 * @param others sends commands to sessions of this node, and to those of nodes without links.
 */
export function sessionCommandsByLink(
  cluster: ClusterAccess | undefined,
  isOwn: (sessionId: string) => boolean,
  others: SessionCommands,
): SessionCommands {
  if (!cluster) return others;
  cluster.methods.set(SESSION_COMMAND, async (body): Promise<CommandAnswer> => {
    const { sessionId, command } = body as CommandCall;
    // It is never sent on, so that no command can go in a circle.
    return { outcome: isOwn(sessionId) ? await others.command(sessionId, command) : 'unreachable' };
  });
  return {
    async command(sessionId, command, node) {
      if (!node?.address || isOwn(sessionId)) return others.command(sessionId, command);
      const call: CommandCall = { sessionId, command };
      try {
        const answer = await cluster.calls.call(node, SESSION_COMMAND, call, COMMAND_TIMEOUT_MS);
        if (answer) return (answer as CommandAnswer).outcome;
      } catch {
        return 'unreachable'; // It may have reached the agent, so it is not sent again.
      }
      return others.command(sessionId, command);
    },
  };
}
