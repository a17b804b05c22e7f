// Agents as GraphQL shows them: also while they are offline.

import { describe, expect, test } from 'vitest';
import { deleteEndedNodes } from '../../../src/store/nodes/nodes.ts';
import { bound, leaveTo, nameRequest, newCredential, openSession } from '../../support/agents/live.ts';
import { account, ask, connect, credential, disconnect, gateway, list, report, useFleet } from './lab.ts';

useFleet();

const listOf = (...nodes: object[]) => ({ nodes });

describe('an agent', () => {
  test('is there with what it says of itself, and stays when it is offline', async () => {
    const session = await connect(
      { name: 'Press 7', hostName: 'press7', labels: { site: 'berlin' }, refusals: { update: 'it does not' } },
      { agentVersion: '2.1.0', ip: '192.0.2.7', os: 'linux', arch: 'arm64', userAgent: 'agent/2.1.0' },
    );
    const hostname = 'press7.tunnel.localhost';
    bound(await gateway.registrar.bind(nameRequest(session, hostname)));
    const fields = `id name reportedName assignedName hostName labels version userAgent os arch ip online mayChange
      credential { id } firstSeenAt lastSeenAt accepts refuses { command reason } sessions { nodes { id } }
      endpoints { nodes { publicUrl } } offlineEndpoints { nodes { publicUrl } } pastSessions { sessionId reason ip agentVersion credentialId startedAt endedAt }`;
    const [online] = await list(fields);
    const said = {
      ...{ id: expect.stringMatching(/^agt_\w{27}$/), name: 'Press 7', reportedName: 'Press 7', assignedName: null },
      ...{ hostName: 'press7', labels: { site: 'berlin' }, version: '2.1.0', userAgent: 'agent/2.1.0', os: 'linux' },
      ...{ arch: 'arm64', ip: '192.0.2.7', credential: { id: credential.credentialId }, mayChange: true },
      ...{ accepts: ['RESTART', 'STOP'], refuses: [{ command: 'UPDATE', reason: 'it does not' }] },
      firstSeenAt: expect.any(String),
    };
    const publicUrl = `http://${hostname}`;
    expect(online).toEqual({
      ...{
        ...said,
        online: true,
        lastSeenAt: null,
        sessions: listOf({ id: session }),
        endpoints: listOf({ publicUrl }),
      },
      ...{ offlineEndpoints: listOf(), pastSessions: [] },
    });
    await disconnect(session, 'the cable was cut');
    const past = { sessionId: session, reason: 'the cable was cut', ip: '192.0.2.7', agentVersion: '2.1.0' };
    const times = { startedAt: expect.any(String), endedAt: expect.any(String) };
    expect(await list(fields)).toEqual([
      {
        ...{
          ...said,
          id: online.id,
          online: false,
          lastSeenAt: expect.any(String),
          sessions: listOf(),
          endpoints: listOf(),
          offlineEndpoints: listOf({ publicUrl }),
        },
        pastSessions: [{ ...past, ...times, credentialId: credential.credentialId }],
      },
    ]);
    expect((await ask('query ($id: ID!) { node(id: $id) { __typename id } }', { id: online.id })).node).toEqual({
      __typename: 'Agent',
      id: online.id,
    });
  });

  test('is the same over restarts and with another credential by its device id', async () => {
    const device = report({ labels: { site: 'berlin' } });
    await disconnect(await openSession(gateway, credential, { agent: device }));
    const other = await newCredential(account);
    await openSession(gateway, other, { agent: { ...device, hostName: 'renamed', labels: {} } });
    expect(await list('hostName labels credential { id } pastSessions { credentialId }')).toEqual([
      {
        ...{ hostName: 'renamed', labels: {}, credential: { id: other.credentialId } },
        pastSessions: [{ credentialId: credential.credentialId }],
      },
    ]);
  });

  test('without a device id is known by its credential, host and name; without a host by its address', async () => {
    const other = await newCredential(account);
    for (const [by, more, ip] of [
      [credential, { hostName: 'kiosk' }, '192.0.2.1'],
      [credential, { hostName: 'kiosk' }, '192.0.2.2'],
      [credential, { hostName: 'kiosk', name: 'second' }, '192.0.2.2'],
      [other, { hostName: 'kiosk' }, '192.0.2.2'],
      [other, { hostName: '' }, '192.0.2.3'],
      [other, { hostName: '' }, '192.0.2.4'],
    ] as const)
      await connect({ deviceId: '', ...more }, { ip }, by);
    expect(
      (await list('name ip sessions { totalCount }')).map(({ name, ip, sessions }) => [name, ip, sessions.totalCount]),
    ).toEqual([
      ['192.0.2.4', '192.0.2.4', 1],
      ['192.0.2.3', '192.0.2.3', 1],
      ['kiosk', '192.0.2.2', 1],
      ['second', '192.0.2.2', 1],
      ['kiosk', '192.0.2.2', 2],
    ]);
  });

  test('on a node whose lease has ended was seen until then', async () => {
    const session = await connect();
    const { prisma, changes } = gateway.app;
    const seen = new Date(Date.now() - 3_600_000);
    const longAgo = new Date(seen.getTime() - 3_600_000);
    await prisma.tunnelSession.update({ where: { id: session }, data: { startedAt: longAgo } });
    await prisma.agent.updateMany({ where: { accountId: account.accountId }, data: { lastSeenAt: longAgo } });
    const nodeId = await leaveTo(gateway, session, seen.getTime());
    expect(await list('online sessions { nodes { id } }')).toEqual([{ online: false, sessions: listOf() }]);
    await deleteEndedNodes({ prisma, changes, baseUrl: () => gateway.api }, [nodeId], 0);
    const endedAt = seen.toISOString();
    expect(await list('lastSeenAt pastSessions { endedAt reason }')).toEqual([
      { lastSeenAt: endedAt, pastSessions: [{ endedAt, reason: 'the gateway node was lost' }] },
    ]);
  });

  test('keeps the last 50 of its sessions', async () => {
    const session = await connect();
    const [{ id: agentId }] = await list('id');
    const at = new Date();
    const older = Array.from({ length: 60 }, (_, i) => ({
      id: `ts_${String(i).padStart(27, '0')}`,
      agentId,
      nodeId: '',
      startedAt: at,
      endedAt: at,
    }));
    await gateway.app.prisma.pastSession.createMany({ data: older });
    await disconnect(session);
    const [{ pastSessions }] = await list('pastSessions { sessionId }');
    expect(pastSessions).toHaveLength(50);
    expect(pastSessions[0].sessionId).toBe(session);
    expect(await gateway.app.prisma.pastSession.count({ where: { agentId } })).toBe(50);
  });

  test('of another account is not there', async () => {
    await connect();
    const [{ id }] = await list('id');
    const stranger = await gateway.newAccount();
    const found = await ask('query ($id: ID!) { node(id: $id) { id } agents { nodes { id } } }', { id }, stranger);
    expect(found).toEqual({ node: null, agents: { nodes: [] } });
  });
});
