import { afterEach, beforeEach, expect, test } from 'vitest';
import { ErrorCode } from '../../../src/protocol/index.ts';
import { bound, type Peer, refused, startPeer } from './peer.ts';
import { newClient, type TestClient } from './support.ts';

let peer: Peer;
let agent: TestClient;

beforeEach(async () => {
  peer = await startPeer();
});
afterEach(async () => {
  await agent.client.close();
  await peer.close();
});

test('closing says good-bye and ends the connection', async () => {
  agent = newClient(peer);
  const { closed } = await peer.session();
  await agent.until(() => agent.client.status.state === 'online');
  await agent.client.close();
  expect(await closed).toEqual({ code: ErrorCode.NONE, message: 'the agent is stopping' });
  expect(agent.client.status).toMatchObject({ state: 'closed', error: null, retryAt: null });
  expect(() => agent.open()).toThrow('the client is closed');
});

test('closing says good-bye also to a gateway that has just accepted', async () => {
  agent = newClient(peer);
  const { closed } = await peer.session(); // The agent has not read that yet.
  await agent.client.close();
  expect(await closed).toEqual({ code: ErrorCode.NONE, message: 'the agent is stopping' });
});

test('closing does not wait for a gateway that has stopped reading', async () => {
  agent = newClient(peer, {}, { goAway: 50 });
  const { socket } = await peer.session();
  socket.pause();
  await agent.client.close();
});

test('closing a tunnel unbinds it, and the others stay', async () => {
  agent = newClient(peer);
  const tunnel = agent.open();
  const other = agent.open();
  await Promise.all([tunnel.answered, other.answered]);
  const id = tunnel.resumption?.tunnelId;
  await Promise.all([tunnel.close(), tunnel.close()]);
  expect(peer.sessions[0]?.unbound).toEqual([id]);
  expect([tunnel.state, other.state]).toEqual(['closed', 'active']);
});

test('a tunnel that is closed while it is being bound is unbound as soon as it is', async () => {
  let serve = () => {};
  const asked = new Promise<void>((resolve) => {
    peer.script.bind = (bind) => {
      resolve();
      return new Promise((answer) => {
        serve = () => answer(bound(bind));
      });
    };
  });
  agent = newClient(peer);
  const tunnel = agent.open();
  await asked;
  const closed = tunnel.close();
  expect(tunnel.state).toBe('closed');
  await expect(tunnel.answered).rejects.toThrow('the tunnel was closed');
  serve();
  await closed;
  expect(peer.sessions[0]?.unbound).toEqual([tunnel.resumption?.tunnelId]);
});

test('a tunnel that is closed while there is no session is not asked for', async () => {
  agent = newClient(peer);
  const tunnel = agent.open();
  const other = agent.open();
  await tunnel.close();
  await other.answered;
  expect(peer.sessions[0]?.binds).toHaveLength(1);
});

test('a refused tunnel that is closed is not asked for again', async () => {
  peer.script.bind = () => refused(334, 'It is in use.');
  agent = newClient(peer);
  const tunnel = agent.open();
  await tunnel.answered.catch(() => {});
  await tunnel.close();
  const asked = peer.sessions[0]?.binds.length;
  const later = agent.open();
  await later.answered.catch(() => {});
  await agent.until(() => (peer.sessions[0]?.binds.length ?? 0) >= Number(asked) + 3);
  await later.close();
  expect(peer.sessions[0]?.unbound).toEqual([]);
});

test('closing all ends every tunnel, and nothing is asked for any more', async () => {
  agent = newClient(peer);
  const active = agent.open();
  await active.answered;
  peer.script.bind = () => null;
  const pending = agent.open();
  await agent.client.close();
  expect([active.state, pending.state]).toEqual(['closed', 'closed']);
  await expect(pending.answered).rejects.toThrow('the tunnel was closed');
  await active.close();
});
