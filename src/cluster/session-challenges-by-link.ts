// Challenges sessions of this node, and those of other nodes over the links to them.

import type { SessionChallenges } from '../tunnel/control/session-commands.ts';
import type { ClusterAccess } from './cluster-query.ts';

const CHALLENGE_SESSION = 'challengeSession';
/** How long the other node may take, in milliseconds: more than a challenge does. */
const CHALLENGE_TIMEOUT_MS = 6000;

interface ChallengeCall {
  sessionId: string;
}

interface ChallengeAnswer {
  isOver: boolean;
}

/** @param challengeOwn challenges a session of this node. One that it does not know is over. */
export function sessionChallengesByLink(
  cluster: ClusterAccess | undefined,
  nodeId: string,
  challengeOwn: (sessionId: string) => Promise<boolean>,
): SessionChallenges {
  cluster?.methods.set(CHALLENGE_SESSION, async (body): Promise<ChallengeAnswer> => {
    const { sessionId } = body as ChallengeCall;
    return { isOver: await challengeOwn(sessionId) };
  });
  return {
    async challenge({ sessionId, node }) {
      if (node.id === nodeId) return challengeOwn(sessionId);
      const call: ChallengeCall = { sessionId };
      const answer = await cluster?.calls
        .call(node, CHALLENGE_SESSION, call, CHALLENGE_TIMEOUT_MS)
        .catch(() => undefined);
      return answer !== undefined && (answer as ChallengeAnswer).isOver;
    },
  };
}
