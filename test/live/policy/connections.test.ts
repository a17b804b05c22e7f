// Rules for connections, at endpoints of every kind: whoever is not let in is hung up on before a single byte.

import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Protocol } from '../../../agent/src/gateway-client.ts';
import { clientHello } from '../../edge/sockets.ts';
import { action, onConnect } from '../../policy/documents/support.ts';
import { type PolicyLab, startPolicyLab } from './lab.ts';

let lab: PolicyLab;
beforeAll(async () => {
  lab = await startPolicyLab();
});
afterAll(() => lab?.close());
beforeEach(() => {
  lab.upstream.asked = [];
  lab.upstream.connections = 0;
});

const STRANGER = '127.0.0.2';
const FRIEND = '127.0.0.3';
const isStranger = `conn.client_ip == '${STRANGER}'`;

const port = (listener: string) => Number(listener.split(':')[1]);

/** Where an endpoint is reached, and what a visitor says first. */
async function doorOf(protocol: Protocol, url: string): Promise<{ port: number; hello: Buffer }> {
  const { hostname, host } = new URL(url);
  const request = Buffer.from(`GET /door HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  if (protocol === 'tcp') return { port: Number(host.split(':')[1]), hello: request };
  if (protocol === 'http') return { port: port(lab.gateway.http), hello: request };
  return { port: port(lab.gateway.https), hello: await clientHello(hostname) };
}

/** Says hello, and says good-bye after the first bytes. @returns how many bytes came. */
async function knock(door: { port: number; hello: Buffer }, from: string): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port: door.port, localAddress: from });
  socket.on('error', () => {});
  socket.write(door.hello);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    socket.end();
  });
  await new Promise((resolve) => socket.once('close', resolve)); // A reset is one way to hang up.
  return bytes;
}

const protocols = ['http', 'https', 'tcp', 'tls'] as const;
const actions = [
  ['deny', action('deny')],
  ['close-connection', action('close-connection')],
  ['restrict-ips', action('restrict-ips', { allow: ['127.0.0.1', `${FRIEND}/32`] })],
] as const;

let names = 0;
const open = (protocol: Protocol, policy: object | null) =>
  lab.tunnel(protocol, protocol === 'tcp' ? null : `connections-${++names}.tunnel.localhost`, policy);

describe.each(protocols)('at an endpoint for %s', (protocol) => {
  test.each(actions)('a stranger gets no byte, and upstream no connection: %s', async (_, step) => {
    const tunnel = await open(protocol, onConnect([step], isStranger));
    const door = await doorOf(protocol, tunnel.url as string);
    expect(await knock(door, STRANGER)).toBe(0);
    // Of TCP, all is known before the visitor has said anything.
    if (protocol === 'tcp') expect(await knock({ ...door, hello: Buffer.alloc(0) }, STRANGER)).toBe(0);
    expect(lab.upstream.connections).toBe(0);
    expect(await knock(door, FRIEND)).toBeGreaterThan(0);
    await tunnel.close();
  });

  test('who cannot be judged is not let in, and the log says why', async () => {
    const expressions = ["[conn.client_ip][int('1')] == ''"];
    const rule = { name: `of ${protocol}`, expressions, actions: [action('deny')] };
    const tunnel = await open(protocol, { on_tcp_connect: [rule] });
    expect(await knock(await doorOf(protocol, tunnel.url as string), FRIEND)).toBe(0);
    expect(lab.upstream.connections).toBe(0);
    const line = await lab.gateway.logged(({ reason }) =>
      String(reason).startsWith(`rule "of ${protocol}" (on_tcp_connect[0]), expression 1: `),
    );
    expect(line).toMatchObject({ module: 'traffic_policy', ip: FRIEND, accountId: lab.account.accountId });
    await tunnel.close();
  });

  test('without such rules, everybody is let in', async () => {
    const tunnel = await open(protocol, null);
    expect(await knock(await doorOf(protocol, tunnel.url as string), STRANGER)).toBeGreaterThan(0);
    await tunnel.close();
  });
});

test('at a TLS edge, rules for connections act as soon as they are set, changed, and taken away', async () => {
  const { account } = lab;
  const name = 'connections-edge.tunnel.localhost';
  await lab.labelled({ app: 'connections' });
  await account.call('POST', '/reserved_domains', { domain: name });
  const { body: backend } = await account.call('POST', '/backends/tunnel_group', { labels: { app: 'connections' } });
  const { body: edge, text } = await account.call('POST', '/edges/tls', {
    hostports: [`${name}:443`],
    backend: { backend_id: backend.id },
    tls_termination: { terminate_at: 'edge' },
  });
  expect(edge?.id, text).toMatch(/^edg/);
  const door = await doorOf('tls', `tls://${name}`);
  const who = async () => [(await knock(door, STRANGER)) > 0, (await knock(door, FRIEND)) > 0];
  const set = async (ip: string) => {
    const value = JSON.stringify(onConnect([action('deny')], `conn.client_ip == '${ip}'`));
    expect((await account.call('PUT', `/edges/tls/${edge.id}/traffic_policy`, { value })).status).toBe(200);
  };
  expect(await who()).toEqual([true, true]);
  await set(STRANGER);
  expect(await who()).toEqual([false, true]);
  await set(FRIEND);
  expect(await who()).toEqual([true, false]);
  expect((await account.call('DELETE', `/edges/tls/${edge.id}/traffic_policy`)).status).toBe(204);
  expect(await who()).toEqual([true, true]);
});
