// Who uses a credential now.

import { expect, test } from 'vitest';
import { newCredential, openSession } from '../support/agents/live.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import type { Answer } from '../support/gateway/http.ts';
import { statementsOf } from '../support/gateway/statements.ts';

const QUERY = '{ credentials { nodes { id openSessions tunnelSessions { nodes { id uri } } } } }';

test('a credential tells of the agents that are connected with it now, at no statement per row', async () => {
  const gateway = await startTestGateway({ NODE_LEASE_MS: '600000' }, { counting: true });
  try {
    const account = await gateway.newAccount();
    const [used, unused] = [await newCredential(account), await newCredential(account)];
    const first = await openSession(gateway, used);
    const second = await openSession(gateway, used);
    await openSession(gateway, await newCredential(await gateway.newAccount()));
    // One of a node that is gone.
    await gateway.app.prisma.node.create({ data: { id: 'node_gone', leaseUntil: new Date(0) } });
    const { accountId, credentialId } = unused;
    const ghost = { id: 'ts_gone', clientId: 'gone', nodeId: 'node_gone' };
    await gateway.app.prisma.tunnelSession.create({ data: { ...ghost, accountId, credentialId } });

    let body: Answer['body'];
    const statements = await statementsOf(async () => {
      ({ body } = await account.graphql(QUERY));
    });
    const refTo = (id: string) => ({ id, uri: `${gateway.api}/tunnel_sessions/${id}` });
    expect(body.data.credentials.nodes).toEqual([
      { id: unused.credentialId, openSessions: 0, tunnelSessions: { nodes: [] } },
      { id: used.credentialId, openSessions: 2, tunnelSessions: { nodes: [refTo(second), refTo(first)] } },
    ]);
    expect(statements.filter((text) => /tunnel_session/.test(text))).toHaveLength(3);
  } finally {
    await gateway.close();
  }
});
