// What GraphQL tells of endpoints and agents that are live: their traffic, their signs of life, who is behind them.

import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { newId } from '../../../src/store/ids.ts';
import { leaveTo, nameRequest, openSession } from '../../support/agents/live.ts';
import { rawAgent } from '../../support/agents/raw-agent.ts';
import { httpName } from '../../support/agents/sdk.ts';
import { visit } from '../../support/visit.ts';
import { done, labelled, newEdge, newName, startShowing, visitEdge } from '../edges/support.ts';
import { A_SIGN_OF_LIFE, account, ask, credential, endpointAt, gateway, openSdk, until, useGateway } from './setup.ts';

useGateway();

describe('an endpoint of a tunnel', () => {
  test('tells who is behind it, and how it is', async () => {
    const name = newName('facts');
    const agent = await rawAgent(gateway);
    await agent.auth(credential.authtoken, { Extra: { UserAgent: 'tester/1.2', OS: 'linux', Arch: 'riscv64' } });
    await agent.bind(name, { Extra: {}, ForwardsTo: 'http://localhost:3000' });
    await until(async () => expect((await endpointAt(name)).roundTrip).not.toBeNull());
    const { tunnelSession, traffic: passed, roundTrip, ...endpoint } = await endpointAt(name);
    expect(endpoint).toMatchObject({
      publicUrl: expect.stringContaining(name),
      agents: 1,
      forwardsTo: 'http://localhost:3000',
    });
    expect(tunnelSession).toEqual({
      id: expect.stringMatching(/^ts_/),
      userAgent: expect.any(String),
      arch: 'riscv64',
      credential: { id: credential.credentialId },
      roundTrip: A_SIGN_OF_LIFE,
      tunnels: [{ publicUrl: endpoint.publicUrl, forwardsTo: 'http://localhost:3000' }],
    });
    expect(roundTrip).toEqual(A_SIGN_OF_LIFE);
    expect(Math.abs(Date.parse(roundTrip.at) - Date.now())).toBeLessThan(60_000);
    expect(roundTrip.milliseconds).toBeGreaterThan(0);
    expect(passed).toEqual({
      requests: 0,
      openConnections: 0,
      requestsPerSecond: 0,
      bytesInPerSecond: 0,
      bytesOutPerSecond: 0,
    });
  });

  test('counts the requests of visitors while they are there', async () => {
    const upstream = await startShowing();
    const name = newName('facts');
    await httpName(await openSdk(), name).listenAndForward(upstream.url);
    const { id } = await endpointAt(name);
    for (let i = 0; i < 3; i++) await visit(`http://${name}/`, gateway.http);
    const held = visit(`http://${name}/held`, gateway.http);
    await until(() => expect(upstream.release).toHaveLength(1));
    const during = (await endpointAt(name)).traffic;
    expect(during).toMatchObject({ requests: 4, openConnections: 1 });
    upstream.release[0]?.();
    await held;
    await until(async () => {
      const { endpointTraffic } = await ask(
        `query ($ids: [ID!]!) { endpointTraffic(ids: $ids) { endpointId ${inside} } }`,
        {
          ids: [id],
        },
      );
      expect(endpointTraffic).toMatchObject([{ endpointId: id, requests: 4, openConnections: 0 }]);
      const [{ requestsPerSecond, bytesInPerSecond, bytesOutPerSecond }] = endpointTraffic;
      expect(requestsPerSecond).toBeGreaterThan(0);
      expect(requestsPerSecond).toBeLessThanOrEqual(4);
      expect(bytesInPerSecond).toBeGreaterThan(0);
      expect(bytesOutPerSecond).toBeGreaterThan(bytesInPerSecond);
    });
  });

  test('counts connections of TCP, and what passes through them while they last', async () => {
    const upstream = await startShowing();
    const session = await openSdk();
    const listener = await session.tcpEndpoint().listenAndForward(upstream.url.replace('http:', 'tcp:'));
    const { hostname: host, port } = new URL(listener.url() ?? '');
    const socket = connect(Number(port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write('x'.repeat(10_000));
    await once(socket, 'data');
    await until(async () => {
      const { traffic: passed } = await endpointAt(host);
      expect(passed).toMatchObject({ requests: 1, openConnections: 1 });
      expect(passed.bytesInPerSecond).toBeGreaterThan(0);
      expect(passed.bytesOutPerSecond).toBeGreaterThan(0);
    });
    socket.destroy();
    await until(async () => expect((await endpointAt(host)).traffic.openConnections).toBe(0));
  });

  test('tells no sign of life of an agent that has given none', async () => {
    const name = newName('facts');
    const agent = await rawAgent(gateway, { mute: true });
    await agent.auth(credential.authtoken);
    await agent.bind(name);
    expect(await endpointAt(name)).toMatchObject({ roundTrip: null, tunnelSession: { roundTrip: null } });
  });

  test('of another node has its agent, and neither traffic nor signs of life', async () => {
    const name = newName('facts');
    const session = await openSession(gateway, credential);
    await gateway.registrar.bind(nameRequest(session, name));
    await leaveTo(gateway, session, Date.now() + 600_000);
    const facts = { traffic: null, roundTrip: null, agents: 1, forwardsTo: 'http://localhost:3000' };
    expect(await endpointAt(name)).toMatchObject({ ...facts, tunnelSession: { id: session, roundTrip: null } });
  });
});

const inside = 'requests openConnections requestsPerSecond bytesInPerSecond bytesOutPerSecond';

describe('an endpoint of an edge', () => {
  test('tells of all agents that its backends choose, and goes on counting when the edge is changed', async () => {
    const upstream = await startShowing();
    const labels = { app: newName() };
    const edge = await newEdge(account, { labels });
    expect(await endpointAt(edge.name)).toMatchObject({ agents: 0, roundTrip: null });
    const [one, two] = [await openSdk(), await openSdk()];
    await labelled(one, labels, upstream.url);
    await labelled(one, { ...labels, second: 'yes' }, upstream.url);
    await labelled(two, { app: 'another' }, upstream.url);
    expect(await endpointAt(edge.name)).toMatchObject({
      agents: 1,
      forwardsTo: null,
      tunnelSession: null,
      traffic: { requests: 0 },
    });
    await labelled(two, labels, upstream.url);
    await until(async () =>
      expect(await endpointAt(edge.name)).toMatchObject({ agents: 2, roundTrip: A_SIGN_OF_LIFE }),
    );
    expect((await visitEdge(gateway, edge)).status).toBe(200);
    await done(account, 'PUT', `${edge.host}/compression`, { enabled: true });
    expect((await visitEdge(gateway, edge)).status).toBe(200);
    await until(async () =>
      expect((await endpointAt(edge.name)).traffic).toMatchObject({ requests: 2, openConnections: 0 }),
    );
    await done(account, 'DELETE', `${edge.host}/backend`);
    expect(await endpointAt(edge.name)).toBeUndefined();
  });

  test('of TLS counts connections', async () => {
    const upstream = await startShowing();
    const labels = { app: newName() };
    const edge = await newEdge(account, {
      kind: 'tls',
      labels,
      modules: { tls_termination: { terminate_at: 'edge' } },
    });
    await labelled(await openSdk(), labels, upstream.url);
    await until(async () => expect((await visitEdge(gateway, edge)).status).toBe(200));
    expect(await endpointAt(edge.name)).toMatchObject({
      agents: 1,
      traffic: { requests: expect.any(Number) },
    });
    expect((await endpointAt(edge.name)).traffic.requests).toBeGreaterThan(0);
  });
});

test('a WebSocket is under way until it is closed', async () => {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  server.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  const name = newName('facts');
  const { port } = server.address() as { port: number };
  await httpName(await openSdk(), name).listenAndForward(`http://127.0.0.1:${port}`);
  const socket = new WebSocket(`ws://${gateway.http}/`, { headers: { host: name } });
  await once(socket, 'open');
  socket.send('hello');
  await once(socket, 'message');
  await until(async () => expect((await endpointAt(name)).traffic).toMatchObject({ requests: 1, openConnections: 1 }));
  socket.close();
  await until(async () => expect((await endpointAt(name)).traffic.openConnections).toBe(0));
});

describe('endpointTraffic', () => {
  const query = 'query ($ids: [ID!]!) { endpointTraffic(ids: $ids) { endpointId requests } }';

  test('answers in the order asked for, and leaves out what it does not serve', async () => {
    const upstream = await startShowing();
    const session = await openSdk();
    const names = [newName('facts'), newName('facts')];
    for (const name of names) await httpName(session, name).listenAndForward(upstream.url);
    const [first, second] = await Promise.all(names.map(async (name) => (await endpointAt(name)).id));
    const ids = [second, newId('ep'), 'nonsense', first];
    const { endpointTraffic } = await ask(query, { ids });
    expect(endpointTraffic).toEqual([
      { endpointId: second, requests: 0 },
      { endpointId: first, requests: 0 },
    ]);
    const stranger = await gateway.newAccount();
    expect(await ask(query, { ids }, stranger)).toEqual({ endpointTraffic: [] });
  });

  test('refuses more than a hundred', async () => {
    const { body } = await account.graphql(query, { ids: Array(101).fill(newId('ep')) });
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'ids' });
    expect(await ask(query, { ids: Array(100).fill(newId('ep')) })).toEqual({ endpointTraffic: [] });
  });
});
