// Gateways whose sessions compete for addresses: one on the embedded database, two where there is a server.

import { newCredential, openSession, type TestCredential } from '../../support/agents/live.ts';
import { type Account, onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace } from '../../support/gateway/place.ts';

export interface RacingSession {
  node: TestGateway;
  credential: TestCredential;
  id: string;
}

export type RacingNodes = Awaited<ReturnType<typeof startRacingNodes>>;

/** Starts the nodes on one database. Two of three credentials belong to `account`, and one to another account. */
export async function startRacingNodes() {
  const place = await newPlace();
  const first = await startTestGateway({ NODE_LEASE_MS: '600000' }, { place });
  const nodes = [first];
  if (onServer) nodes.push(await startTestGateway({ NODE_LEASE_MS: '600000' }, { place }));
  const account: Account = await first.newAccount();
  const credentials = [
    await newCredential(account),
    await newCredential(account),
    await newCredential(await first.newAccount()),
  ];
  const nodeOf = (index: number) => nodes[index % nodes.length] as TestGateway;

  async function newSession(index: number): Promise<RacingSession> {
    const [node, credential] = [nodeOf(index), credentials[index % credentials.length] as TestCredential];
    return { node, credential, id: await openSession(node, credential) };
  }

  return {
    nodes,
    account,
    nodeOf,
    newSession,
    sessions: (count: number) => Promise.all(Array.from({ length: count }, (_, index) => newSession(index))),
    /** The endpoints that are live at an address, by the database. */
    liveAt: (address: string) =>
      nodeOf(0).app.prisma.endpoint.findMany({ where: { address }, select: { id: true, accountId: true } }),
    async close() {
      for (const node of nodes) await node.close();
      await place.remove();
    },
  };
}
