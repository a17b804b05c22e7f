// What breaks agents in the field, by the numbers that the description of their protocol gives it: connections and visitors.

import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { newCredential } from '../support/agents/live.ts';
import { httpName, sdkProcess, sdkSession } from '../support/agents/sdk.ts';
import { crowd, listen, startUpstream } from '../support/events/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { visit } from '../support/visit.ts';
import { hello, INTERVAL, pitfallLab, RETRIES, sayTo, TOLERANCE } from './pitfall-lab.ts';

const lab = pitfallLab('pitfall-connection');
const { newName, get, proxied, through, sessions } = lab;

/** How long a connection lasted on which TLS was not even begun; milliseconds. */
let halfOpen: Promise<number>;
beforeAll(() => {
  const start = performance.now();
  const socket = connect(Number(lab.gateway.agent.split(':')[1]), '127.0.0.1').resume();
  halfOpen = once(socket, 'close').then(() => performance.now() - start);
});

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
  const session = await sdkSession(lab.gateway, lab.credential.authtoken);
  await httpName(session, name).listenAndForward(upstream.url);
  const all = crowd({ url: `http://${name}`, listener: lab.gateway.http }, 600);
  await eventually(() => expect(upstream.open).toBe(480));
  release();
  expect(await all).toEqual({ 200: 600 });
  expect(upstream.most).toBe(480);
});

test('P2: a small answer does not wait for an acknowledgement', async () => {
  const [upstream, name] = [await hello(), newName()];
  await httpName(await sdkSession(lab.gateway, lab.credential.authtoken), name).listenAndForward(upstream.url);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const times: number[] = [];
  for (let i = 0; i < 41; i++) {
    const start = performance.now();
    await visit(`http://${name}`, lab.gateway.http, { agent });
    times.push(performance.now() - start);
  }
  // The other end acknowledges after 40 ms what it has; the first few it acknowledges at once.
  expect(times.sort((a, b) => a - b)[10]).toBeLessThan(40);
});

test('P3: a connection that only the agent knows to be over is no hindrance for its next one', async () => {
  const own = await lab.gateway.newAccount();
  const proxy = await proxied();
  const session = await sdkSession(through(proxy), (await newCredential(own)).authtoken);
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
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
  const session = await sdkSession(through(proxy), lab.credential.authtoken, (builder) =>
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
  const session = await sdkSession(lab.gateway, lab.credential.authtoken);
  await httpName(session, unread).listen();
  await httpName(session, read).listenAndForward((await hello()).url);
  const visitors = new Set<Socket>();
  onTestFinished(() => {
    for (const visitor of visitors) visitor.destroy();
  });
  const come = async () => {
    const visitor = connect(Number(lab.gateway.http.split(':')[1]), '127.0.0.1').on('error', () => {});
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
  const session = await sdkSession(lab.gateway, lab.credential.authtoken);
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
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
  const own = await lab.gateway.newAccount();
  const [{ authtoken }, upstream, name] = [await newCredential(own), await hello(), newName()];
  const { child, outcomes } = await sdkProcess([
    {
      addr: upstream.url,
      authtoken,
      domain: name,
      schemes: ['HTTP'],
      server_addr: lab.gateway.agent,
      session_ca_cert: lab.gateway.ca,
    },
  ]);
  expect(outcomes).toEqual([`http://${name}:${lab.gateway.http.split(':')[1]}`]);
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

test('P6: a connection that never finishes its TLS handshake is closed after ten seconds', async () => {
  const lasted = await halfOpen;
  expect(lasted).toBeGreaterThan(9500);
  expect(lasted).toBeLessThan(13_000);
});
