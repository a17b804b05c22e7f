// What breaks agents of the field, by the numbers that the description of their protocol gives it.

import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { MuxFrameReader, StreamType } from '../../src/protocol/index.ts';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent, rawAgent } from '../support/agents/raw-agent.ts';
import { httpName, sdkProcess, sdkSession } from '../support/agents/sdk.ts';
import { crowd, listen, startUpstream } from '../support/events/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

const INTERVAL = 300;
const TOLERANCE = 1500;
/** What the SDK tries again after, at the latest, before it sleeps for two minutes; milliseconds. */
const RETRIES = { timeout: 6000 };

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
let names = 0;
/** How long a connection lasted on which TLS was not even begun; milliseconds. */
let halfOpen: Promise<number>;
beforeAll(async () => {
  gateway = await startTestGateway({
    HEARTBEAT_INTERVAL_MS: String(INTERVAL),
    HEARTBEAT_TOLERANCE_MS: String(TOLERANCE),
  });
  account = await gateway.newAccount();
  credential = await newCredential(account);
  const start = performance.now();
  const socket = connect(Number(gateway.agent.split(':')[1]), '127.0.0.1').resume();
  halfOpen = once(socket, 'close').then(() => performance.now() - start);
});
afterAll(() => gateway?.close());

const newName = () => `pitfall-${++names}.tunnel.localhost`;
const get = (name: string) => visit(`http://${name}`, gateway.http);
const hello = () => startUpstream((_, response) => response.end('hello'));

/** Says something to a TCP endpoint. @returns what comes back until the end. */
async function sayTo(port: number, text: string): Promise<string> {
  const visitor = connect(port, '127.0.0.1');
  visitor.end(text);
  let got = '';
  for await (const chunk of visitor.setEncoding('utf8')) got += chunk;
  return got;
}

async function proxied(): Promise<FaultProxy> {
  const [host = '', port] = gateway.agent.split(':');
  const proxy = await startFaultProxy(host, Number(port));
  onTestFinished(() => proxy.close());
  return proxy;
}

const through = ({ port }: FaultProxy) => ({ agent: `127.0.0.1:${port}`, ca: gateway.ca });

/** Ids of the account's sessions. */
async function sessions(of: Pick<Account, 'call'> = account): Promise<string[]> {
  const { body } = await of.call('GET', '/tunnel_sessions');
  return body.tunnel_sessions.map(({ id }: { id: string }) => id);
}

test('P1: of 600 visitors at once the SDK is given 480, and the others wait', async () => {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const upstream = await startUpstream(async (_, response) => {
    await released;
    response.end('hello');
  });
  const name = newName();
  const session = await sdkSession(gateway, credential.authtoken);
  await httpName(session, name).listenAndForward(upstream.url);
  const all = crowd({ url: `http://${name}`, listener: gateway.http }, 600);
  await eventually(() => expect(upstream.open).toBe(480));
  release();
  expect(await all).toEqual({ 200: 600 });
  expect(upstream.most).toBe(480);
});

test('P2: a small answer does not wait for an acknowledgement', async () => {
  const [upstream, name] = [await hello(), newName()];
  await httpName(await sdkSession(gateway, credential.authtoken), name).listenAndForward(upstream.url);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const times: number[] = [];
  for (let i = 0; i < 41; i++) {
    const start = performance.now();
    await visit(`http://${name}`, gateway.http, { agent });
    times.push(performance.now() - start);
  }
  expect(times.sort((a, b) => a - b)[20]).toBeLessThan(20);
});

test('P3: a connection that only the agent knows to be over is no hindrance for its next one', async () => {
  const own = await gateway.newAccount();
  const proxy = await proxied();
  const session = await sdkSession(through(proxy), (await newCredential(own)).authtoken);
  const echo = createServer((socket) => socket.pipe(socket));
  const listener = await session.tcpEndpoint().listenAndForward((await listen(echo)).replace('http', 'tcp'));
  const [before] = await sessions(own);
  proxy.halfClose('down');
  await eventually(async () => {
    const ids = await sessions(own);
    expect(ids).toHaveLength(1);
    expect(ids).not.toContain(before);
    expect((await own.call('GET', '/endpoints')).body.endpoints).toHaveLength(1);
  }, RETRIES);
  expect(await sayTo(Number(new URL(String(listener.url())).port), 'there and back')).toBe('there and back');
});

test('P4: a gateway that is away for less than 2.5 s is found again', async () => {
  const [proxy, upstream, name] = [await proxied(), await hello(), newName()];
  let failures = 0;
  const session = await sdkSession(through(proxy), credential.authtoken, (builder) =>
    builder.handleDisconnection(() => {
      failures++;
      return true;
    }),
  );
  await httpName(session, name).listenAndForward(upstream.url);
  proxy.refuse();
  await proxy.cut();
  // At once and after 50 ms it was in vain.
  await eventually(() => expect(failures).toBeGreaterThanOrEqual(2), { interval: 5, timeout: 2000 });
  await proxy.heal();
  await eventually(async () => expect((await get(name)).body).toBe('hello'), RETRIES);
});

test('P5: a listener that nobody reads does not hold up its session, however many visitors come and go', async () => {
  const [unread, read] = [newName(), newName()];
  const session = await sdkSession(gateway, credential.authtoken);
  await httpName(session, unread).listen();
  await httpName(session, read).listenAndForward((await hello()).url);
  const visitors = new Set<Socket>();
  onTestFinished(() => {
    for (const visitor of visitors) visitor.destroy();
  });
  const come = async () => {
    const visitor = connect(Number(gateway.http.split(':')[1]), '127.0.0.1').on('error', () => {});
    visitors.add(visitor);
    await once(visitor, 'connect');
    visitor.write(`GET / HTTP/1.1\r\nHost: ${unread}\r\n\r\n`);
  };
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 200 }, come));
    for (let i = 0; i < 5; i++) expect((await get(read)).body).toBe('hello');
    for (const visitor of visitors) visitor.destroy();
    visitors.clear();
  }
});

test('P5: visitors who come and go without a word do not lock a listener that is read', async () => {
  const session = await sdkSession(gateway, credential.authtoken);
  const echo = createServer((socket) => socket.pipe(socket));
  const listener = await session.tcpEndpoint().listenAndForward((await listen(echo)).replace('http', 'tcp'));
  const port = Number(new URL(String(listener.url())).port);
  const scan = async () => {
    const visitor = connect(port, '127.0.0.1').on('error', () => {});
    await once(visitor, 'connect');
    visitor.resetAndDestroy();
  };
  await Promise.all(Array.from({ length: 300 }, scan));
  expect(await sayTo(port, 'there and back')).toBe('there and back');
});

test('P7: an agent that is frozen is gone after interval and tolerance, and back when it goes on', async () => {
  const own = await gateway.newAccount();
  const [{ authtoken }, upstream, name] = [await newCredential(own), await hello(), newName()];
  const { child, outcomes } = await sdkProcess([
    {
      addr: upstream.url,
      authtoken,
      domain: name,
      schemes: ['HTTP'],
      server_addr: gateway.agent,
      session_ca_cert: gateway.ca,
    },
  ]);
  expect(outcomes).toEqual([`http://${name}:${gateway.http.split(':')[1]}`]);
  const endpoints = async () => (await own.call('GET', '/endpoints')).body.endpoints;
  expect(await endpoints()).toHaveLength(1);
  child.kill('SIGSTOP');
  const start = performance.now();
  await eventually(async () => expect(await endpoints()).toEqual([]));
  expect(performance.now() - start).toBeLessThan(INTERVAL + TOLERANCE + 1000);
  expect((await get(name)).status).toBe(502);
  child.kill('SIGCONT');
  await eventually(async () => expect((await get(name)).body).toBe('hello'), RETRIES);
});

/** Every stream that the gateway opens on an agent's connection: its type, and whether the gateway ended it. */
function openings(agent: RawAgent): Map<number, { type: number; bytes: number; isEnded: boolean }> {
  const seen = new Map<number, { type: number; bytes: number; isEnded: boolean }>();
  const reader = new MuxFrameReader({
    onData(id, piece, opens, ends) {
      if (opens) seen.set(id, { type: piece.readUInt32BE(0), bytes: 0, isEnded: false });
      const stream = seen.get(id);
      if (!stream) return;
      stream.bytes += piece.length;
      stream.isEnded ||= ends;
    },
    onReset() {},
    onWindow() {},
    onGoAway() {},
  });
  agent.socket.on('data', (chunk: Buffer) => reader.push(chunk));
  return seen;
}

test('P8: a stream of heartbeats is never ended by the gateway, not even with the session', async () => {
  const own = await newCredential(account);
  const agent = await rawAgent(gateway);
  const seen = openings(agent);
  await agent.auth(own.authtoken);
  const heartbeats = () => [...seen.values()].filter(({ type }) => type === StreamType.HEARTBEAT);
  await eventually(() => expect(heartbeats()[0]?.bytes).toBeGreaterThanOrEqual(4 + 3 * 4));
  await account.call('DELETE', `/credentials/${own.credentialId}`);
  await agent.closed;
  expect(heartbeats()).toEqual([expect.objectContaining({ isEnded: false })]);
});

test('P9: after a reconnect, when the SDK no longer hears that a tunnel was stopped, it is stopped all the same', async () => {
  const [proxy, name] = [await proxied(), newName()];
  const own = await newCredential(account);
  let failures = 0;
  const session = await sdkSession(through(proxy), own.authtoken, (builder) =>
    builder.handleDisconnection(() => {
      failures++;
      return failures < 3;
    }),
  );
  await httpName(session, name).listenAndForward((await hello()).url);
  await proxy.cut();
  await eventually(async () => expect((await get(name)).body).toBe('hello'), RETRIES);
  await account.call('PATCH', `/credentials/${own.credentialId}`, { acl: ['bind:other.tunnel.localhost'] });
  await eventually(async () => expect((await get(name)).status).toBe(404));
  // Nor does it get the name back.
  const before = failures;
  await proxy.cut();
  await eventually(() => expect(failures).toBeGreaterThan(before), RETRIES);
  expect((await get(name)).status).toBe(404);
});

test('P10: an SDK that is told to stop goes on, as long as its program does not stop it', async () => {
  const own = await gateway.newAccount();
  const name = newName();
  let stops = 0;
  const session = await sdkSession(gateway, (await newCredential(own)).authtoken, (builder) =>
    builder.handleStopCommand(() => {
      stops++;
    }),
  );
  await httpName(session, name).listenAndForward((await hello()).url);
  const [id] = await sessions(own);
  expect((await own.call('POST', `/tunnel_sessions/${id}/stop`)).status).toBe(204);
  await eventually(() => expect(stops).toBe(1));
  expect((await own.call('POST', `/tunnel_sessions/${id}/restart`)).status).toBe(409);
  expect((await get(name)).body).toBe('hello');
  expect(await sessions(own)).toEqual([id]);
});

test('P11: the gateway opens no stream of a type that an SDK could take for another', async () => {
  const own = await gateway.newAccount();
  const held = await newCredential(own);
  const agent = await rawAgent(gateway);
  const seen = openings(agent);
  await agent.auth(held.authtoken, {
    Extra: { StopUnsupportedError: '', RestartUnsupportedError: '', UpdateUnsupportedError: '' },
  });
  const name = newName();
  await agent.bind(name);
  expect((await get(name)).status).toBe(200);
  const [id] = await sessions(own);
  for (const command of ['stop', 'restart', 'update'])
    expect((await own.call('POST', `/tunnel_sessions/${id}/${command}`)).status).toBe(204);
  await own.call('PATCH', `/credentials/${held.credentialId}`, { acl: ['bind:other.tunnel.localhost'] });
  await eventually(() => expect(agent.asked).toHaveLength(4));
  const { PROXY, RESTART, STOP, UPDATE, STOP_TUNNEL, HEARTBEAT } = StreamType;
  const types = [...seen.values()].map(({ type }) => type);
  expect(types.sort((a, b) => a - b)).toEqual([PROXY, RESTART, STOP, UPDATE, STOP_TUNNEL, HEARTBEAT]);
});

test('P12: a listener that is closed twice is an error the second time, and the session goes on', async () => {
  const session = await sdkSession(gateway, credential.authtoken);
  const listener = await httpName(session, newName()).listen();
  await listener.close();
  await expect(listener.close()).rejects.toThrow(/no tunnel/);
  const name = newName();
  await httpName(session, name).listenAndForward((await hello()).url);
  expect((await get(name)).body).toBe('hello');
});

test('P13: calls of `forward` in one process share a session, whatever address the later ones give', async () => {
  const own = await gateway.newAccount();
  const upstream = await hello();
  const [{ authtoken }, first, second] = [await newCredential(own), newName(), newName()];
  const config = {
    addr: upstream.url,
    authtoken,
    schemes: ['HTTP'],
    server_addr: gateway.agent,
    session_ca_cert: gateway.ca,
  };
  const elsewhere = { ...config, server_addr: '127.0.0.1:1' };
  const { outcomes } = await sdkProcess([
    { ...config, domain: first },
    { ...elsewhere, domain: second },
    { ...config, domain: newName(), force_new_session: true },
    { ...elsewhere, domain: newName(), force_new_session: true },
  ]);
  expect(outcomes[3]).toMatch(/^failed: /);
  expect([(await get(first)).body, (await get(second)).body]).toEqual(['hello', 'hello']);
  expect(await sessions(own)).toHaveLength(2);
});

test('P14: the names of members are taken in any case', async () => {
  const agent = await rawAgent(gateway);
  const extra = { AUTHTOKEN: credential.authtoken, metadata: 'm' };
  const identity = await agent.call(StreamType.AUTH, { version: ['2'], clientid: '', extra });
  expect(identity).toMatchObject({ Version: '3', Error: '' });
  const name = newName();
  const bound = await agent.call(StreamType.BIND, {
    proto: 'http',
    opts: { HOSTNAME: name },
    EXTRA: { metadata: 'm' },
  });
  expect(bound.Error).toBe('');
  expect((await get(name)).body).toBe(bound.Id);
  expect(codeOf(await agent.call(StreamType.UNBIND, { ID: 'tn_x' }))).toBe(90209);
});

// It writes its farewell wrongly, and its writing end dies of that; its reading end lives on.
test('an SDK session that is closed says nothing: it is over when its heartbeat fails', async () => {
  const own = await gateway.newAccount();
  const [{ authtoken }, name] = [await newCredential(own), newName()];
  const session = await sdkSession(gateway, authtoken);
  await httpName(session, name).listenAndForward((await hello()).url);
  await session.close();
  await eventually(async () => expect(await sessions(own)).toEqual([]), { timeout: INTERVAL + TOLERANCE + 1000 });
  await httpName(await sdkSession(gateway, authtoken), name).listenAndForward((await hello()).url);
  expect((await get(name)).body).toBe('hello');
});

test('P6: a connection that never finishes its TLS handshake is closed after ten seconds', async () => {
  const lasted = await halfOpen;
  expect(lasted).toBeGreaterThan(9500);
  expect(lasted).toBeLessThan(13_000);
});
