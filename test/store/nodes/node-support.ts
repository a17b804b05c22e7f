// Names, and the ids of nodes, for tests with several gateways.

import { newCredential, openSession } from '../../support/agents/live.ts';
import type { TestGateway } from '../../support/gateway/gateway.ts';

export const A_WEEK_MS = 7 * 24 * 3_600_000;

let names = 0;

export const newName = () => `node${++names}.tunnel.localhost`;

/** The id of a gateway as a node. It is read from a session, which the gateway opens for it. */
export async function nodeIdOf(gateway: TestGateway): Promise<string> {
  const sessionId = await openSession(gateway, await newCredential(gateway));
  const { nodeId } = await gateway.app.prisma.tunnelSession.findUniqueOrThrow({ where: { id: sessionId } });
  return nodeId;
}
