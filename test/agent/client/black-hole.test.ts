// Silence at each step towards a session: none of them is waited for longer than its deadline, and all are survived.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { accepted, bound, type Peer, startPeer } from './peer.ts';
import { newClient, type TestClient } from './support.ts';

let peer: Peer;
let agent: TestClient | undefined;

beforeEach(async () => {
  peer = await startPeer();
});
afterEach(async () => {
  await agent?.client.close();
  await peer.close();
});

const failed = async (text: RegExp) => {
  await agent?.until(() => text.test(agent?.client.status.error?.message ?? ''));
};
const recovered = async () => {
  await agent?.until(() => agent?.client.status.state === 'online');
  expect(agent?.client.status.error).toBeNull();
};

// A listener that accepts nothing, and whose queue is full: what comes then is not even refused.
const DEAF_LISTENER = `
  const server = require('net').createServer((socket) => socket.on('error', () => {}));
  server.listen({ port: Number(process.argv[1]), host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write(String(server.address().port));
  });`;

test.runIf(process.platform === 'linux')('TCP that is not answered', async () => {
  const child = spawn(process.execPath, ['-e', DEAF_LISTENER, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = Number(await once(child.stdout, 'data'));
  child.kill('SIGSTOP');
  const queued = await Promise.all(
    [1, 2].map(async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      return socket;
    }),
  );
  agent = newClient({ ...peer, port }, {}, { dial: 80 });
  await failed(/cannot be reached: no answer within 80 ms/);
  for (const socket of queued) socket.destroy();
  child.kill('SIGKILL');
});

test('TLS that is not answered', async () => {
  const proxy = await startFaultProxy(peer.host, peer.port);
  proxy.shape({ outage: 'black hole' });
  agent = newClient({ ...peer, port: proxy.port }, {}, { tls: 80 });
  await failed(/TLS .* failed: no answer within 80 ms/);
  await proxy.heal();
  await recovered();
  await proxy.close();
});

test('authentication that is not answered', async () => {
  peer.script.auth = () => null;
  agent = newClient(peer, {}, { auth: 80 });
  await failed(/not answered within 80 ms/);
  peer.script.auth = () => accepted();
  await recovered();
});

test.each([
  ['no id', {}],
  ['an id that is no text', { ClientId: 7 }],
  ['a list', [1]],
])('authentication that is answered with %s', async (_, answer) => {
  peer.script.auth = () => answer;
  agent = newClient(peer);
  await agent.until(() => agent?.client.status.state === 'waiting');
  peer.script.auth = () => accepted();
  await recovered();
});

test('a bind that is not answered is asked again, on the same session', async () => {
  let asked = 0;
  peer.script.bind = (bind) => (++asked === 1 ? null : bound(bind));
  agent = newClient(peer, {}, { bind: 80 });
  const tunnel = agent.open();
  await agent.until(() => tunnel.state === 'active');
  expect(agent.client.status.sessions).toBe(1);
  expect(asked).toBe(2);
});

test('a bind that was served after all, unheard, is freed by a new session', async () => {
  let served = false;
  peer.script.bind = (bind, session) => {
    if (served && session === peer.sessions[0]) return { Error: 'It is in use.\r\n\r\nERR_GATEWAY_334\r\n' };
    if (served) return bound(bind);
    served = true;
    return null;
  };
  agent = newClient(peer, {}, { bind: 80 });
  const tunnel = agent.open();
  await agent.until(() => tunnel.state === 'active');
  expect(agent.client.status.sessions).toBe(2);
});

test('a session that goes silent, with its tunnels', async () => {
  const proxy = await startFaultProxy(peer.host, peer.port);
  agent = newClient({ ...peer, port: proxy.port });
  const tunnel = agent.open({ domain: 'app.t.test' });
  const url = await tunnel.answered;
  for (const line of proxy.connections) line.shape({ outage: 'black hole' });
  await agent.until(() => tunnel.state === 'pending');
  await agent.until(() => tunnel.state === 'active');
  expect(tunnel.url).toBe(url);
  expect(agent.client.status.sessions).toBe(2);
  await proxy.close();
});

test.each(['up', 'down'] as const)('a session of which only one direction, %s, goes silent', async (direction) => {
  const proxy = await startFaultProxy(peer.host, peer.port);
  agent = newClient({ ...peer, port: proxy.port });
  const tunnel = agent.open();
  await tunnel.answered;
  for (const line of proxy.connections) line.shape({ outage: 'black hole' }, direction);
  await agent.until(() => tunnel.state === 'pending');
  await agent.until(() => tunnel.state === 'active');
  await proxy.close();
});

test('closing waits for no deadline: not for TLS, authentication, or the next attempt', async () => {
  const proxy = await startFaultProxy(peer.host, peer.port);
  proxy.shape({ outage: 'black hole' });
  const inTls = newClient({ ...peer, port: proxy.port });
  while (proxy.accepted === 0) await new Promise((resolve) => setImmediate(resolve));
  await inTls.client.close();
  await proxy.close();

  const asked = new Promise<void>((resolve) => {
    peer.script.auth = () => {
      resolve();
      return null;
    };
  });
  const inAuth = newClient(peer);
  await asked;
  await inAuth.client.close();

  const waiting = newClient({ ...peer, port: proxy.port }, {}, { retryFirst: 60_000, retryMax: 60_000 });
  await waiting.until(() => waiting.client.status.state === 'waiting');
  await waiting.client.close();
  expect(waiting.client.status.state).toBe('closed');
});
