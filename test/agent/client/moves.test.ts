// A client that is asked to move to another process of the gateway: it has its tunnels there before the earlier session ends.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { AGENT_MOVES, ErrorCode, noopStreamEvents, StreamType } from '../../../src/protocol/index.ts';
import { accepted, bound, certificate, type Peer, type PeerSession, refused, startPeer } from './peer.ts';
import { newClient, type TestClient } from './support.ts';

/** The first process is the one that the agent is to leave. */
let peers: [Peer, Peer, Peer];
let agent: TestClient;
/** All states of the client and of its tunnel. */
let states: Set<string>;

beforeEach(async () => {
  const identity = await certificate('localhost', '127.0.0.1');
  peers = [await startPeer(identity), await startPeer(identity), await startPeer(identity)];
  for (const [i, { script }] of peers.entries()) script.node = `node_${i}`;
  states = new Set();
});
afterEach(async () => {
  await agent.client.close();
  await Promise.all(peers.map((peer) => peer.close()));
});

/** A client with one session, at the first peer, and a tunnel. It takes the peers in their order. */
async function start(some: readonly Peer[] = peers) {
  let rank = 0;
  const gateways = some.map(({ host, port }) => ({ host, port }));
  agent = newClient(some[0] as Peer, { gateways, legs: 1 }, { random: () => (rank++ % 10) / 10 });
  const tunnel = agent.open();
  await tunnel.answered;
  void agent.until(() => {
    states.add(`${agent.client.status.state} ${tunnel.state}`);
    return false;
  });
  return { tunnel, first: await peers[0].session() };
}

const move = (session: PeerSession) => session.command(StreamType.MOVE, {});
const node = () => agent.client.status.legs[0]?.node;
const opened = () => peers.map(({ sessions }) => sessions.length);

test('it binds its tunnels in another session, and leaves the first one to the gateway', async () => {
  const { tunnel, first } = await start();
  const { tunnelId = '', bindToken } = tunnel.resumption ?? {};
  expect(await move(first)).toEqual({});
  const second = await peers[1].session();
  expect(second.auth).toMatchObject({ clientId: 'client-1', cookie: 'cookie-1', legNumber: 0, moves: true });
  expect(first.auth).toMatchObject({ moveUnsupported: '', moves: false });
  expect(second.binds).toMatchObject([{ id: tunnelId, token: bindToken }]);
  expect(agent.client.status).toMatchObject({ state: 'online', sessions: 2 });
  expect([node(), tunnel.legs]).toEqual(['node_1', 1]);
  // Visitors who are on their way to the first one are served there.
  for (const session of [first, second])
    await new Promise<void>((onEnd) => session.visit(tunnelId, { ...noopStreamEvents, onReset: () => onEnd() }));
  expect(tunnel.counters.connections).toBe(2);
  first.mux.close(ErrorCode.NONE, AGENT_MOVES);
  await first.closed;
  await tunnel.close();
  expect([second.unbound, opened()]).toEqual([[tunnelId], [1, 1, 0]]);
  expect(states).toEqual(new Set(['online active', 'online closed']));
});

test('it moves again, while the first session still has visitors', async () => {
  const { tunnel, first } = await start();
  await move(first);
  const second = await peers[1].session();
  // What is asked twice is done already.
  expect(await move(first)).toEqual({});
  expect(opened()).toEqual([1, 1, 0]);
  peers[0].script.node = 'node_3';
  expect(await move(second)).toEqual({});
  await agent.until(() => node() === 'node_3');
  const third = await peers[0].session();
  expect(third.auth).toMatchObject({ clientId: 'client-1', legNumber: 0, moves: true });
  expect([first, second, third].map(({ mux }) => mux.isClosed)).toEqual([false, false, false]);
  expect(tunnel.legs).toBe(1);
  await agent.client.close();
  const ends = await Promise.all([first, second, third].map(({ closed }) => closed));
  expect(ends).toMatchObject([{ code: 0 }, { code: 0 }, { code: 0 }]);
});

test('what is opened during the move is bound in both sessions', async () => {
  const { first } = await start();
  let onBind = () => {};
  const isBinding = new Promise<void>((resolve) => {
    onBind = resolve;
  });
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  peers[1].script.bind = async (bind) => {
    onBind();
    await mayAnswer;
    return bound(bind);
  };
  const moved = move(first);
  await isBinding;
  const late = agent.open({ domain: 'late.t.test' });
  await late.answered;
  answer();
  expect(await moved).toEqual({});
  await agent.until(() => late.legs === 1);
  const domains = ({ binds }: PeerSession) => binds.map(({ options }) => (options as { Domain: string }).Domain);
  expect(domains(first)).toContain('late.t.test');
  expect(domains(peers[1].sessions[0] as PeerSession)).toContain('late.t.test');
});

test.each<[why: string, script: Partial<Peer['script']>, reason: string]>([
  ['refuses the agent', { auth: () => refused(105, 'No.') }, 'No.'],
  ['refuses a tunnel', { bind: () => refused(334, 'In use.') }, 'not all tunnels are bound there'],
  ['fails', { bind: () => refused(90080, 'Later.') }, 'not all tunnels are bound there'],
  ['does not know the agent', { auth: () => accepted('other', 'c', 0, 'node_1') }, 'does not know this agent any more'],
])('it stays, and serves on, when the other process %s', async (_, script, reason) => {
  const { tunnel, first } = await start(peers.slice(0, 2));
  Object.assign(peers[1].script, script);
  const { Error: told } = (await move(first)) as { Error: string };
  expect(told).toContain(reason);
  expect(states).toEqual(new Set(['online active']));
  expect([node(), tunnel.legs, agent.client.status.sessions]).toEqual(['node_0', 1, 1]);
  for (const { closed } of peers[1].sessions) await closed;
  await new Promise<void>((onEnd) =>
    first.visit(tunnel.resumption?.tunnelId ?? '', { ...noopStreamEvents, onReset: () => onEnd() }),
  );
  // When that session ends, it connects as ever.
  Object.assign(peers[1].script, { auth: () => accepted('client-1', 'cookie-1', 0, 'node_1'), bind: bound });
  first.mux.close(ErrorCode.NONE, AGENT_MOVES);
  await agent.until(() => tunnel.state === 'active' && agent.client.status.sessions === 2);
});

test('it does not authenticate at a process that does not know moves: that would end the first session', async () => {
  peers[1].script.takesMoves = false;
  const { first } = await start(peers.slice(0, 2));
  const { Error: told } = (await move(first)) as { Error: string };
  expect(told).toContain('knows no moves');
  expect(opened()).toEqual([1, 0, 0]);
  expect([first.mux.isClosed, node()]).toEqual([false, 'node_0']);
});

test.each(['before', 'after'])(
  'a first session that ends %s its tunnels are bound makes no difference',
  async (when) => {
    const { tunnel, first } = await start();
    peers[1].script.bind = async (bind) => {
      if (when === 'before') first.socket.destroy();
      await first.closed;
      return bound(bind);
    };
    const moved = move(first).catch(() => 'gone');
    if (when === 'after') peers[1].script.bind = bound;
    await agent.until(() => node() === 'node_1' && tunnel.state === 'active');
    await moved;
    first.socket.destroy();
    await first.closed;
    const url = tunnel.url;
    const late = agent.open();
    await late.answered;
    expect([opened(), node(), tunnel.url, tunnel.legs]).toEqual([[1, 1, 0], 'node_1', url, 1]);
  },
);

test('a second session that is lost is opened again like any other', async () => {
  const { tunnel, first } = await start();
  await move(first);
  const second = await peers[1].session();
  second.socket.destroy();
  await agent.until(() => tunnel.state === 'pending');
  await agent.until(() => tunnel.state === 'active');
  const returned = peers
    .flatMap(({ sessions }) => sessions)
    .find(({ mux, auth }) => !mux.isClosed && !auth.moves && mux !== first.mux);
  expect(returned?.auth).toMatchObject({ clientId: 'client-1', legNumber: 0, moves: false });
});

test('a client that is closed while it moves closes both sessions', async () => {
  const { first } = await start();
  let onBind = () => {};
  const isBinding = new Promise<void>((resolve) => {
    onBind = resolve;
  });
  peers[1].script.bind = () => {
    onBind();
    return null;
  };
  const moved = move(first).catch(() => 'gone');
  await isBinding;
  const second = await peers[1].session();
  await agent.client.close();
  expect(await Promise.all([first.closed, second.closed])).toMatchObject([{ code: 0 }, { code: 0 }]);
  await moved;
  expect(agent.client.status.state).toBe('closed');
});
