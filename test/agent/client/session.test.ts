import { createServer } from 'node:https';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ErrorCode, noopStreamEvents, openTypedStream, StreamType } from '../../../src/protocol/index.ts';
import { startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { accepted, bound, certificate, listen, type Peer, refused, startPeer } from './peer.ts';
import { newClient, type TestClient } from './support.ts';

let peer: Peer;
const clients: TestClient[] = [];
const start: typeof newClient = (...args) => {
  const client = newClient(...args);
  clients.push(client);
  return client;
};
const online = async (client: TestClient) => client.until(() => client.client.status.state === 'online');

beforeEach(async () => {
  peer = await startPeer();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map(({ client }) => client.close()));
  await peer.close();
});

test('a session is authenticated, and its identity is handed over to be kept', async () => {
  peer.script.auth = () => accepted('client-7', 'cookie-7');
  const agent = start(peer, { metadata: 'kitchen' });
  await online(agent);
  const { auth } = await peer.session();
  expect(auth).toMatchObject({
    authtoken: 'a token',
    clientId: '',
    cookie: '',
    versions: ['3', '2'],
    metadata: 'kitchen',
    clientType: 'tunnel-gateway-agent',
    stopUnsupported: '',
    streamWindow: 16 * 1024 * 1024,
  });
  expect(agent.identities).toEqual([{ clientId: 'client-7', cookie: 'cookie-7' }]);
  expect(agent.client.status).toMatchObject({ state: 'online', error: null, retryAt: null, sessions: 1 });
});

test('an identity that was kept is presented, and one that the gateway exchanges is handed over', async () => {
  peer.script.auth = () => accepted('client-new', 'cookie-new');
  const agent = start(peer, { identity: { clientId: 'client-old', cookie: 'cookie-old' } });
  const { auth } = await peer.session();
  expect(auth).toMatchObject({ clientId: 'client-old', cookie: 'cookie-old' });
  await online(agent);
  expect(agent.identities).toEqual([{ clientId: 'client-new', cookie: 'cookie-new' }]);
});

test('a session is taken over after a loss, under the identity of the one before', async () => {
  const agent = start(peer);
  const first = await peer.session();
  await online(agent);
  first.socket.destroy();
  const second = await peer.session();
  expect(second.auth).toMatchObject({ clientId: 'client-1', cookie: 'cookie-1' });
  await agent.until(() => agent.client.status.sessions === 2);
  expect(agent.identities).toHaveLength(1);
});

test('a session whose place another device takes is waited for longer each time, and it is said which device that is', async () => {
  const agent = start(peer, {}, { replaced: 40, replacedMax: 100_000, random: () => 1 });
  const waits: number[] = [];
  for (const _ of [1, 2, 3]) {
    const session = await peer.session();
    await online(agent);
    session.mux.close(ErrorCode.CANCELLED, 'replaced by a new session from 192.0.2.7 (box8)');
    await agent.until(() => agent.client.status.state === 'waiting');
    const [{ error, retryAt, since } = expect.unreachable()] = agent.client.status.legs;
    expect(error?.message).toMatch(/from 192\.0\.2\.7 \(box8\): another device has the identity of this one/);
    waits.push((retryAt ?? 0) - since);
  }
  expect(waits).toEqual([40, 80, 160]);
});

test('a source of authtokens is told which one was refused, and asked for another at once; then it is waited', async () => {
  peer.script.auth = ({ authtoken }) => (authtoken === 'third' ? accepted() : refused(107, 'not valid'));
  const told: (string | null)[] = [];
  const tokens = ['first', 'second', 'third'];
  const authtoken = async (rejected: string | null) => tokens[told.push(rejected) - 1] as string;
  await online(start(peer, { authtoken }, { refusedSession: 30 }));
  expect(told).toEqual([null, 'first', 'second']);
});

test('a refused authtoken is reported with its code, and accepted as soon as the gateway does', async () => {
  peer.script.auth = () => refused(107, 'The authtoken is not valid.');
  const agent = start(peer);
  await agent.until(() => agent.client.status.state === 'refused');
  const { error, retryAt } = agent.client.status;
  expect(error).toEqual({ code: 'ERR_GATEWAY_107', message: 'The authtoken is not valid.' });
  expect(retryAt).toBeGreaterThan(Date.now() - 1000);
  await agent.until(() => peer.connections === 3);
  peer.script.auth = () => accepted();
  await online(agent);
  expect(agent.logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

test('a gateway that cannot answer now has refused nothing', async () => {
  let asked = 0;
  peer.script.auth = () => (++asked < 3 ? refused(90080, 'Try again.') : accepted());
  const states = new Set<string>();
  const agent = start(peer, {}, { refusedSession: 60_000 });
  await agent.until(() => {
    states.add(agent.client.status.state);
    return agent.client.status.state === 'online';
  });
  expect(states).toEqual(new Set(['connecting', 'waiting', 'online']));
});

test('a gateway that says when to come back is not asked before that: for a session, nor for a tunnel', async () => {
  const asked = { sessions: [] as number[], tunnels: [] as number[] };
  const busy = (number: number) => ({ ...refused(number, 'Too much at once.'), RetryAfter: 1 });
  peer.script.auth = () => (asked.sessions.push(performance.now()) < 2 ? busy(90080) : accepted());
  peer.script.bind = (bind) => (asked.tunnels.push(performance.now()) < 2 ? busy(90364) : bound(bind));
  const agent = start(peer, {}, { random: () => 0 });
  const tunnel = agent.open();
  await agent.until(() => tunnel.state === 'active');
  for (const [first = 0, second = 0] of Object.values(asked)) expect(second - first).toBeGreaterThan(990);
});

test('signs of life go both ways', async () => {
  const agent = start(peer);
  const session = await peer.session();
  const echo = await new Promise<Buffer>((resolve) => {
    openTypedStream(session.mux, StreamType.HEARTBEAT, Buffer.from('life'), { ...noopStreamEvents, onData: resolve });
  });
  expect(echo.toString()).toBe('life');
  expect(session.beats).toBe(1);
  await expect.poll(() => agent.client.status.latencyMs).toBeGreaterThan(0);
});

test('a session without a sign of life is given up, and the next one begun at once', async () => {
  peer.script.answersHeartbeats = ({ auth }) => auth.clientId !== '';
  const slow = { random: () => 1, retryFirst: 60_000, retryMaxRecent: 60_000 };
  const agent = start(peer, {}, { heartbeatTolerance: 60, ...slow });
  await agent.until(() => agent.client.status.sessions === 2);
});

test.each([
  ['a good-bye', ErrorCode.NONE],
  ['a revoked credential', ErrorCode.CANCELLED],
])('after %s of the gateway the agent comes back by itself', async (_, code) => {
  const agent = start(peer);
  (await peer.session()).mux.close(code, 'because');
  await agent.until(() => agent.client.status.error?.message === 'because');
  await peer.session();
  await online(agent);
});

test('sessions that end as soon as they begin are no success: the waits between them grow', async () => {
  const timing = { random: () => 1, heartbeatInterval: 1000, retryFirst: 100, retryMaxRecent: 400 };
  const agent = start(peer, {}, timing);
  const waits: number[] = [];
  for (let nth = 1; nth <= 4; nth++) {
    const { mux } = await peer.session();
    mux.close(ErrorCode.NONE, 'not today');
    await agent.until(() => agent.client.status.state === 'waiting');
    const { retryAt, since } = agent.client.status;
    waits.push((retryAt ?? 0) - since);
  }
  // A busy machine stands still between the two dates.
  for (const [nth, wait] of [100, 200, 400, 400].entries()) expect(Math.abs((waits[nth] ?? 0) - wait)).toBeLessThan(30);
});

test('offline at boot is waiting, until the gateway is there', async () => {
  const proxy = await startFaultProxy(peer.host, peer.port);
  proxy.refuse();
  const agent = start({ ...peer, port: proxy.port });
  await agent.until(() => agent.client.status.state === 'waiting');
  expect(agent.client.status.error?.message).toMatch(/cannot be reached: .*ECONNREFUSED/);
  expect(agent.client.status.retryAt).not.toBeNull();
  await proxy.heal();
  await online(agent);
  await proxy.close();
});

test('a name that does not resolve is waited for', async () => {
  const agent = start({ ...peer, host: 'gateway.invalid' });
  await agent.until(() => agent.client.status.state === 'waiting');
  expect(agent.client.status.error?.message).toContain('gateway.invalid');
});

test('a certificate of a stranger, or for another name, is not accepted', async () => {
  const stranger = await startPeer();
  const agent = start({ ...peer, ca: stranger.ca });
  await agent.until(() => agent.client.status.state === 'waiting');
  expect(agent.client.status.error?.message).toMatch(/TLS .* failed: .*self-signed/);
  const elsewhere = await startPeer(await certificate('elsewhere.test', '127.0.0.2'));
  const other = start(elsewhere);
  await other.until(() => other.client.status.state === 'waiting');
  expect(other.client.status.error?.message).toContain("IP: 127.0.0.1 is not in the cert's list");
  await elsewhere.close();
  expect([...peer.sessions, ...elsewhere.sessions]).toEqual([]);
  await stranger.close();
});

test('something else in the place of a gateway is said to be that', async () => {
  const { cert, key } = await certificate('localhost', '127.0.0.1');
  const server = createServer({ cert, key }, (_, response) => response.end());
  const agent = start({ host: '127.0.0.1', port: await listen(server), ca: cert });
  await agent.until(() => agent.client.status.state === 'waiting');
  expect(agent.client.status.error?.message).toMatch(
    /^what listens at 127.0.0.1:\d+ is no gateway, or is in trouble: /,
  );
  await agent.client.close();
  server.close();
});

test('the name of the gateway is sent in TLS, an address is not', async () => {
  const byName = start({ ...peer, host: 'localhost' });
  const { socket } = await peer.session();
  expect((socket as unknown as { servername: string | false }).servername).toBe('localhost');
  await byName.client.close();
  start(peer);
  const { socket: other } = await peer.session();
  expect((other as unknown as { servername: string | false }).servername).toBe(false);
});

test('commands are handed on, and answered with the reason why not', async () => {
  const told: unknown[] = [];
  const say = (...what: unknown[]) => {
    told.push(...what);
    return null;
  };
  const commands = {
    stop: () => say('stop'),
    restart: () => 'nothing would start it again',
    update: (version: string, permitMajor: boolean) => say(version, permitMajor),
  };
  start(peer, { commands });
  const { command } = await peer.session();
  expect(await command(StreamType.STOP, {})).toEqual({});
  expect(await command(StreamType.RESTART, {})).toEqual({ Error: 'nothing would start it again' });
  expect(await command(StreamType.UPDATE, { Version: '2.0', PermitMajorVersion: true })).toEqual({});
  expect(told).toEqual(['stop', '2.0', true]);
});

test('a command that fails, or cannot be read, is answered and harms nothing', async () => {
  const commands = {
    stop: () => {
      throw new Error('a bug');
    },
    restart: () => null,
    update: () => null,
  };
  const agent = start(peer, { commands });
  const { command } = await peer.session();
  expect(await command(StreamType.STOP, {})).toEqual({ Error: 'The agent failed to do this.' });
  expect(await command(StreamType.UPDATE, { Version: 7 })).toEqual({ Error: 'Version must be a text' });
  expect(await command(StreamType.RESTART, {})).toEqual({});
  expect(agent.client.status.sessions).toBe(1);
});

test('a stream of an unknown type is refused, and nothing else ends', async () => {
  const agent = start(peer);
  const { mux, command } = await peer.session();
  const code = await new Promise((resolve) => {
    openTypedStream(mux, 77, Buffer.from('what is this'), { ...noopStreamEvents, onReset: resolve });
  });
  expect(code).toBe(ErrorCode.REFUSED);
  expect(await command(StreamType.RESTART, {})).toEqual({});
  expect(agent.client.status.sessions).toBe(1);
});
