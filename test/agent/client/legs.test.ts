// A client that is connected to several gateways at once: where its legs go, and what happens when one is lost.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { noopStreamEvents, StreamType } from '../../../src/protocol/index.ts';
import { accepted, bound, certificate, type Peer, type PeerSession, refused, startPeer } from './peer.ts';
import { newClient, type TestClient } from './support.ts';

const NEVER_MS = 3_600_000;
let peers: [Peer, Peer, Peer];
let agent: TestClient;

beforeEach(async () => {
  const identity = await certificate('localhost', '127.0.0.1');
  peers = [await startPeer(identity), await startPeer(identity), await startPeer(identity)];
  for (const [i, { script }] of peers.entries()) script.node = `node_${i}`;
});
afterEach(async () => {
  await agent.client.close();
  await Promise.all(peers.map((peer) => peer.close()));
});

/** A client of the peers, in the order in which they are given. */
function clientOf(
  some: readonly Peer[],
  options: Parameters<typeof newClient>[1] = {},
  timing: Parameters<typeof newClient>[2] = {},
): TestClient {
  const gateways = some.map(({ host, port }) => ({ host, port }));
  return newClient(some[0] as Peer, { gateways, ...options }, { random: () => 0.5, ...timing });
}

const legs = () => agent.client.status.legs;
const nodes = () => legs().map(({ node }) => node);
const connected = (...wanted: (string | null)[]) =>
  agent.until(() => JSON.stringify(nodes()) === JSON.stringify(wanted));
const at = ({ host, port }: Peer) => `${host}:${port}`;

test('with two addresses it has a session at each, as one agent, and serves each tunnel in both', async () => {
  agent = clientOf(peers.slice(0, 2));
  const tunnel = agent.open();
  const url = await tunnel.answered;
  await agent.until(() => tunnel.legs === 2);
  expect(nodes()).toEqual(['node_0', 'node_1']);
  expect(agent.client.status).toMatchObject({ state: 'online', sessions: 2 });
  expect(legs()).toMatchObject([{ gateway: at(peers[0]) }, { gateway: at(peers[1]) }]);
  const [first, second] = [await peers[0].session(), await peers[1].session()];
  expect(first.auth).toMatchObject({ clientId: '', legNumber: 0 });
  expect(second.auth).toMatchObject({ clientId: 'client-1', cookie: 'cookie-1', legNumber: 1 });
  const { tunnelId, bindToken } = tunnel.resumption ?? {};
  expect(second.binds).toMatchObject([{ id: tunnelId, token: bindToken, options: { Domain: new URL(url).hostname } }]);
  for (const session of [first, second])
    await new Promise<void>((onEnd) => session.visit(tunnelId ?? '', { ...noopStreamEvents, onReset: () => onEnd() }));
  expect(tunnel.counters).toMatchObject({ connections: 2, dialFailures: 2 });
});

test('with one address it has one session', async () => {
  agent = clientOf([peers[0]]);
  await agent.open().answered;
  expect([nodes(), peers[0].connections]).toEqual([['node_0'], 1]);
});

test('a tunnel with labels is the same in both', async () => {
  agent = clientOf(peers.slice(0, 2));
  const tunnel = agent.client.open({ labels: { app: 'shop' }, forwardsTo: '127.0.0.1:9', metadata: '' });
  await agent.until(() => tunnel.legs === 2);
  expect(tunnel).toMatchObject({ url: null, resumption: null });
  const asked = peers.slice(0, 2).map((peer) => peer.sessions[0]?.labelBinds);
  expect(asked).toMatchObject([[{ id: '', token: '' }], [{ id: 'tn_labels', token: 'token of labels' }]]);
});

test('two addresses of one node are one place: the second leg goes elsewhere', async () => {
  peers[1].script.node = 'node_0';
  agent = clientOf(peers);
  await connected('node_0', 'node_2');
  expect(peers[1].sessions).toEqual([]);
  expect(agent.logs).toContainEqual(
    expect.objectContaining({
      text: 'connection to the gateway failed',
      details: expect.objectContaining({ leg: 1, message: `${at(peers[1])} leads to node_0, where leg 0 is already` }),
    }),
  );
});

test('as long as all addresses lead to one node it looks for another, without a second session', async () => {
  peers[1].script.node = 'node_0';
  agent = clientOf(peers.slice(0, 2), { legs: 2 });
  await agent.until(() => legs()[1]?.error?.message.includes('where leg 0 is already') === true);
  expect(peers.map(({ sessions }) => sessions.length)).toEqual([1, 0, 0]);
  expect(agent.client.status.state).toBe('online');
  peers[1].script.node = 'node_1';
  await connected('node_0', 'node_1');
});

test('a lost leg comes back while the other serves, and is not hurried', async () => {
  agent = clientOf(peers.slice(0, 2), {}, { legRetry: NEVER_MS });
  const tunnel = agent.open();
  await agent.until(() => tunnel.legs === 2);
  const states = new Set<string>();
  const [first] = agent.client.status.legs;
  const lost = peers.findIndex((peer) => `${at(peer)}` === first?.gateway);
  peers[lost]?.sessions[0]?.socket.destroy();
  await agent.until(() => {
    states.add(`${agent.client.status.state} ${tunnel.state}`);
    return legs()[0]?.state === 'waiting';
  });
  expect(states).toEqual(new Set(['online active']));
  expect([tunnel.legs, agent.client.status.error]).toEqual([1, null]);
  const { retryAt, error } = legs()[0] ?? {};
  expect(error?.message).toBeTruthy();
  expect(Math.abs((retryAt ?? 0) - Date.now() - NEVER_MS / 2)).toBeLessThan(60_000);

  // With the other one lost, too, nothing is left to wait for.
  peers[1 - lost]?.sessions[0]?.socket.destroy();
  await agent.until(() => tunnel.state === 'pending');
  await agent.until(() => tunnel.state === 'active' && tunnel.legs === 2);
  expect(tunnel.url).toMatch(/^http:/);
  expect(tunnel.resumption?.tunnelId).toBe(peers[lost]?.sessions[1]?.binds[0]?.id);
});

test('an address that is gone is passed over for another one', async () => {
  await peers[1].close();
  agent = clientOf(peers);
  await connected('node_0', 'node_2');
  expect(legs()[1]?.gateway).toBe(at(peers[2]));
});

test('with one leg it goes on to the next address at once', async () => {
  await peers[0].close();
  agent = clientOf(peers, { legs: 1 }, { retryFirst: NEVER_MS, retryMax: NEVER_MS });
  await connected('node_1');
  expect(legs()).toHaveLength(1);
});

test('a gateway that takes one session of an agent only is asked for one', async () => {
  for (const { script } of peers) script.node = '';
  agent = clientOf(peers, { legs: 3 });
  await agent.open().answered;
  expect(peers.map(({ connections }) => connections)).toEqual([1, 0, 0]);
  expect(legs()).toHaveLength(1);
});

test('an agent that gets another identity begins its other session anew', async () => {
  agent = clientOf(peers.slice(0, 2));
  const tunnel = agent.open();
  await agent.until(() => tunnel.legs === 2);
  peers[0].script.auth = () => accepted('client-2', 'cookie-2', 0, 'node_0');
  peers[0].sessions[0]?.socket.destroy();
  await agent.until(() => tunnel.legs === 2 && peers[1].sessions.length === 2);
  expect(peers[1].sessions[1]?.auth).toMatchObject({ clientId: 'client-2', cookie: 'cookie-2', legNumber: 1 });
  expect(agent.identities).toContainEqual({ clientId: 'client-2', cookie: 'cookie-2' });
});

test('a leg that is refused a tunnel leaves it to the other, and asks again', async () => {
  let asked = 0;
  peers[1].script.bind = (bind) => (++asked < 3 ? refused(334, 'It is in use.') : bound(bind));
  agent = clientOf(peers.slice(0, 2));
  const tunnel = agent.open();
  const states = new Set<string>();
  await agent.until(() => {
    states.add(tunnel.state);
    return tunnel.legs === 2;
  });
  expect(states).toEqual(new Set(['pending', 'active']));
  expect(peers[1].sessions[0]?.binds.map(({ id }) => id)).toEqual(Array(3).fill(tunnel.resumption?.tunnelId));
  expect(agent.logs.filter(({ text }) => text === 'tunnel refused')).toHaveLength(1);
});

test('a tunnel that is closed is unbound in both, and the client closes both sessions', async () => {
  agent = clientOf(peers.slice(0, 2));
  const tunnel = agent.open();
  await agent.until(() => tunnel.legs === 2);
  const id = tunnel.resumption?.tunnelId;
  await tunnel.close();
  const sessions = [...peers[0].sessions, ...peers[1].sessions];
  expect(sessions.map(({ unbound }) => unbound)).toEqual([[id], [id]]);
  await agent.client.close();
  expect(await Promise.all(sessions.map(({ closed }) => closed))).toMatchObject([{ code: 0 }, { code: 0 }]);
});

test('a command counts, whichever leg it comes by', async () => {
  let restarts = 0;
  const restart = () => {
    restarts++;
    return null;
  };
  agent = clientOf(peers.slice(0, 2), { commands: { stop: () => null, restart, update: () => null } });
  await connected('node_0', 'node_1');
  for (const peer of peers.slice(0, 2))
    expect(await (peer.sessions[0] as PeerSession).command(StreamType.RESTART, {})).toEqual({});
  expect(restarts).toBe(2);
});
