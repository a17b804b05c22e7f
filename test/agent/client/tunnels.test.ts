import { afterEach, beforeEach, expect, test } from 'vitest';
import { ErrorCode, noopStreamEvents } from '../../../src/protocol/index.ts';
import { bound, type Peer, type PeerSession, refused, startPeer } from './peer.ts';
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

test('a tunnel is asked for with everything that is wanted of it', async () => {
  agent = newClient(peer);
  const policy = '{"inbound":[]}';
  const tunnel = agent.open({ protocol: 'https', domain: 'app.t.test', policy, metadata: 'lamp' });
  expect(tunnel).toMatchObject({ state: 'pending', url: null, resumption: null, error: null });
  expect(await tunnel.answered).toBe('https://app.t.test:8080');
  expect(tunnel).toMatchObject({ state: 'active', url: 'https://app.t.test:8080', error: null });
  expect(tunnel.resumption).toMatchObject({ url: 'https://app.t.test:8080', bindToken: /^token of / });
  const [session] = peer.sessions;
  expect(session?.binds).toMatchObject([
    { id: '', token: '', proto: 'https', forwardsTo: '127.0.0.1:9', metadata: 'lamp', pooling: false },
  ]);
  expect(session?.binds[0]?.options).toEqual({ Domain: 'app.t.test', TrafficPolicy: policy });
});

test('what the gateway chose is asked for again after a loss, with its proof', async () => {
  agent = newClient(peer);
  const web = agent.open();
  const ssh = agent.open({ protocol: 'tcp' });
  const urls = await Promise.all([web.answered, ssh.answered]);
  const [first] = peer.sessions;
  expect(first?.binds.map(({ options }) => options)).toEqual([{ Domain: '' }, { Addr: '' }]);
  first?.socket.destroy();
  await agent.until(() => web.state === 'pending' && ssh.state === 'pending');
  expect(web.url).toBe(urls[0]);
  await agent.until(() => web.state === 'active' && ssh.state === 'active');
  expect([web.url, ssh.url]).toEqual(urls);
  const { hostname } = new URL(urls[0]);
  const { host } = new URL(urls[1]);
  expect(peer.sessions[1]?.binds).toMatchObject([
    { id: web.resumption?.tunnelId, token: web.resumption?.bindToken, options: { Domain: hostname } },
    { id: ssh.resumption?.tunnelId, token: ssh.resumption?.bindToken, options: { Addr: host } },
  ]);
});

test('what was kept from an earlier life is asked for at once', async () => {
  agent = newClient(peer);
  const resume = { tunnelId: 'tn_old', bindToken: 'token of old', url: 'http://old.t.test:8080' };
  const tunnel = agent.open({ resume });
  expect(await tunnel.answered).toBe('http://old.t.test:8080');
  expect(peer.sessions[0]?.binds).toMatchObject([
    { id: 'tn_old', token: 'token of old', options: { Domain: 'old.t.test' } },
  ]);
});

test('where the proof is not accepted any more, the same address is asked for anew', async () => {
  peer.script.bind = (bind) => (bind.id === '' ? bound(bind) : refused(90209, 'There is no tunnel "tn_old" here.'));
  agent = newClient(peer);
  const resume = { tunnelId: 'tn_old', bindToken: 'expired', url: 'tcp://t.test:20007' };
  const tunnel = agent.open({ protocol: 'tcp', resume });
  expect(await tunnel.answered).toBe('tcp://t.test:20007');
  expect(tunnel.resumption?.tunnelId).not.toBe('tn_old');
  expect(peer.sessions[0]?.binds.map(({ id, options }) => [id, options])).toEqual([
    ['tn_old', { Addr: 't.test:20007' }],
    ['', { Addr: 't.test:20007' }],
  ]);
});

test('a refusal is reported in the words of the gateway, and asked again until it is none', async () => {
  peer.script.bind = () => refused(334, 'app.t.test is in use.');
  agent = newClient(peer);
  const tunnel = agent.open({ domain: 'app.t.test' });
  const refusal = await tunnel.answered.catch((error) => error);
  expect(refusal).toBeInstanceOf(Error);
  expect(refusal).toMatchObject({ code: 'ERR_GATEWAY_334', message: 'app.t.test is in use.' });
  expect(tunnel).toMatchObject({ state: 'refused', url: null, error: { code: 'ERR_GATEWAY_334' } });
  peer.script.bind = bound;
  await agent.until(() => tunnel.state === 'active');
  expect(tunnel).toMatchObject({ url: 'http://app.t.test:8080', error: null });
  expect(agent.logs.filter(({ text }) => text === 'tunnel refused')).toHaveLength(1);
});

test('a gateway that cannot bind now has refused nothing', async () => {
  let asked = 0;
  peer.script.bind = (bind) => (++asked < 3 ? refused(90080, 'Try again.') : bound(bind));
  agent = newClient(peer, {}, { refusedTunnel: 60_000 });
  const tunnel = agent.open();
  const states = new Set<string>();
  await agent.until(() => {
    states.add(tunnel.state);
    return tunnel.state === 'active';
  });
  expect(states).toEqual(new Set(['pending', 'active']));
});

test('in use is a refusal like any other, where every bind was answered', async () => {
  const answers = [refused(90080, 'Try again.'), refused(334, 'It is in use.'), refused(334, 'It is in use.')];
  peer.script.bind = (bind) => answers.shift() ?? bound(bind);
  agent = newClient(peer);
  const tunnel = agent.open();
  await expect(tunnel.answered).rejects.toMatchObject({ code: 'ERR_GATEWAY_334' });
  await agent.until(() => tunnel.state === 'active');
  expect(agent.client.status.sessions).toBe(1);
});

test('a tunnel that is refused after a loss serves nobody', async () => {
  agent = newClient(peer);
  const tunnel = agent.open();
  await tunnel.answered;
  peer.script.bind = () => refused(334, 'It is in use.');
  peer.sessions[0]?.socket.destroy();
  await agent.until(() => tunnel.state === 'refused');
  const id = tunnel.resumption?.tunnelId ?? '';
  const code = await new Promise((onReset) => peer.sessions[1]?.visit(id, { ...noopStreamEvents, onReset }));
  expect(code).toBe(ErrorCode.REFUSED);
  expect(tunnel.counters.connections).toBe(0);
});

test('a tunnel that the gateway stops is refused with its reason, and asked for again', async () => {
  agent = newClient(peer);
  const tunnel = agent.open();
  const other = agent.open();
  await Promise.all([tunnel.answered, other.answered]);
  const [session] = peer.sessions as [PeerSession];
  peer.script.bind = () => refused(308, 'The ACL does not allow it.');
  session.stopTunnel(tunnel.resumption?.tunnelId ?? '', 'ERR_GATEWAY_308', 'The ACL was changed.');
  await agent.until(() => tunnel.state === 'refused');
  expect(tunnel.error).toEqual({ code: 'ERR_GATEWAY_308', message: 'The ACL was changed.' });
  await agent.until(() => tunnel.error?.message === 'The ACL does not allow it.');
  peer.script.bind = bound;
  await agent.until(() => tunnel.state === 'active');
  expect(other.state).toBe('active');
  expect(agent.client.status.sessions).toBe(1);
});

test('a tunnel that is stopped right behind the answer to its bind does not stay', async () => {
  peer.script.bind = (bind, session) => {
    peer.script.bind = () => refused(308, 'Still not.');
    queueMicrotask(() => process.nextTick(() => session.stopTunnel('tn_brief', 'ERR_GATEWAY_308', 'Not any more.')));
    return bound({ ...bind, id: 'tn_brief' });
  };
  agent = newClient(peer);
  const tunnel = agent.open();
  await agent.until(() => tunnel.state === 'refused');
  expect(tunnel.error?.message).toBe('Not any more.');
});

test('a thousand tunnels come back, sixteen at a time', async () => {
  let underWay = 0;
  let most = 0;
  peer.script.bind = async (bind) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
    return bound(bind);
  };
  agent = newClient(peer, {}, { heartbeatTolerance: 10_000 });
  const tunnels = Array.from({ length: 1000 }, () => agent.open());
  await Promise.all(tunnels.map(({ answered }) => answered));
  peer.sessions[0]?.socket.destroy();
  await agent.until(() => tunnels.some(({ state }) => state === 'pending'));
  await agent.until(() => tunnels.every(({ state }) => state === 'active'));
  expect(most).toBe(16);
});

test('what cannot be forwarded to is refused here, without asking', async () => {
  agent = newClient(peer);
  const tunnel = agent.open({ forwardsTo: 'nowhere' });
  await expect(tunnel.answered).rejects.toThrow('"nowhere" must be host:port');
  expect(tunnel.state).toBe('refused');
  await agent.open().answered;
  expect(peer.sessions[0]?.binds).toHaveLength(1);
  await tunnel.close();
});

test('a tunnel wanted while the agent waits is not kept waiting', async () => {
  await peer.close();
  agent = newClient(peer, {}, { retryFirst: 60_000, retryMax: 60_000 });
  await agent.until(() => agent.client.status.state === 'waiting');
  agent.open();
  await agent.until(() => agent.client.status.state === 'connecting');
});
