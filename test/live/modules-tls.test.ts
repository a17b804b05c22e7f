// The modules of a TLS edge: what the API stores is what the next connection meets.

import { once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import { connect } from 'node:tls';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway.ts';
import { newCredential } from '../support/live.ts';
import { sdkSession } from '../support/sdk.ts';
import { listen } from '../support/traffic.ts';
import { done, labelled, newEdge, newName } from './edge-support.ts';
import { ipPolicy, type Settings } from './module-cases.ts';

let gateway: TestGateway;
let account: Account;
let authtoken: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  ({ authtoken } = await newCredential(account));
});

/** A TLS edge that ends TLS, before an upstream that says back what it hears. */
async function echoEdge() {
  const labels = { app: newName() };
  const upstream = await listen(createServer((socket) => socket.on('error', () => {}).pipe(socket)));
  await labelled(await sdkSession(gateway, authtoken), labels, upstream.replace('http', 'tcp'));
  const edge = await newEdge(account, { kind: 'tls', labels, modules: { tls_termination: {} } });
  return { edge, says: (from?: string, options?: object) => say(edge.name, from, options) };
}

/** @returns what comes back, or why nothing does. */
async function say(servername: string, localAddress = '127.0.0.1', options: object = {}): Promise<string> {
  const [host, port] = gateway.https.split(':');
  const socket = connect({ host, port: Number(port), servername, ca: gateway.ca, localAddress, ...options });
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('secureConnect', () => socket.end(`hello over ${socket.getProtocol()}`));
  socket.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  const failed = once(socket, 'error').then(([error]) => `closed: ${error.code}`);
  return Promise.race([
    once(socket, 'end').then(() => text),
    failed,
    once(socket, 'close').then(() => text || 'closed'),
  ]);
}

const GREETED = 'hello over TLSv1.3';
const closed = expect.stringMatching(/^closed/);
const closes = (ip: string) => [{ expressions: [`conn.client_ip == '${ip}'`], actions: [{ type: 'deny' }] }];
const cases: [module: string, one: () => Promise<Settings> | Settings, two: () => Promise<Settings> | Settings][] = [
  [
    'ip_restriction',
    async () => ({ ip_policy_ids: [await ipPolicy(account, { '127.0.0.0/8': 'allow', '127.0.0.2/32': 'deny' })] }),
    async () => ({ ip_policy_ids: [await ipPolicy(account, { '127.0.0.2/32': 'allow' })] }),
  ],
  [
    'traffic_policy',
    () => ({ value: JSON.stringify({ on_tcp_connect: closes('127.0.0.2') }) }),
    () => ({ value: JSON.stringify({ on_tcp_connect: closes('127.0.0.1') }) }),
  ],
  ['policy', () => ({ inbound: closes('127.0.0.2') }), () => ({ inbound: closes('127.0.0.1') })],
];

test.each(cases)('%s of a TLS edge acts as it is stored, from the next connection on', async (module, one, two) => {
  const { edge, says } = await echoEdge();
  const met = async () => [await says('127.0.0.1'), await says('127.0.0.2')];
  const path = `${edge.at}/${module}`;
  const [first, second] = [await one(), await two()];
  expect(await met(), 'not set').toEqual([GREETED, GREETED]);
  await done(account, 'PUT', path, first);
  expect(await met(), 'set').toEqual([GREETED, closed]);
  await done(account, 'PUT', path, second);
  expect(await met(), 'changed').toEqual([closed, GREETED]);
  await done(account, 'PUT', path, { ...second, enabled: false });
  expect(await met(), 'off').toEqual([GREETED, GREETED]);
  await done(account, 'PUT', path, first);
  expect(await met(), 'on again').toEqual([GREETED, closed]);
  await done(account, 'DELETE', path);
  expect(await met(), 'unset').toEqual([GREETED, GREETED]);
});

test('tls_termination says who ends TLS, and from which version on', async () => {
  const { edge, says } = await echoEdge();
  const old = { maxVersion: 'TLSv1.2' };
  const path = `${edge.at}/tls_termination`;
  expect([await says(), await says(undefined, old)]).toEqual([GREETED, 'hello over TLSv1.2']);
  await done(account, 'PUT', path, { min_version: '1.3' });
  expect([await says(), await says(undefined, old)]).toEqual([GREETED, closed]);
  // What comes back from there is the ClientHello itself, which is no ServerHello.
  for (const settings of [{ terminate_at: 'upstream' }, { enabled: false }]) {
    await done(account, 'PUT', path, settings);
    expect(await says()).toEqual(closed);
    expect(await firstByteBack(edge.name)).toBe(0x16);
  }
  await done(account, 'PUT', path, { min_version: '1.2' });
  expect(await says(undefined, old)).toBe('hello over TLSv1.2');
  await done(account, 'DELETE', path);
  expect(await says()).toEqual(closed);
});

/** The first byte that comes back when somebody says a ClientHello. */
async function firstByteBack(servername: string): Promise<number> {
  const [host, port] = gateway.https.split(':');
  const raw = connectTcp({ host, port: Number(port) });
  onTestFinished(() => void raw.destroy());
  const heard = once(raw, 'data');
  connect({ socket: raw, servername, ca: gateway.ca }).on('error', () => {});
  const [bytes] = await heard;
  return bytes[0];
}
