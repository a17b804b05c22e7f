// The modules of a TLS edge: what the API stores is what the next connection meets.

import { createServer } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { listen } from '../../support/events/traffic.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { done, labelled, newEdge, newName, sayOverTls } from '../edges/support.ts';
import { ipPolicy, type Settings } from './cases.ts';

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
  return { edge, says: (from?: string, options?: object) => sayOverTls(gateway, edge, from, options) };
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
  // What comes back is what was sent, and no server would say that.
  for (const settings of [{ terminate_at: 'upstream' }, { enabled: false }]) {
    await done(account, 'PUT', path, settings);
    expect(await says()).toMatch(/^closed: ERR_SSL_/);
  }
  await done(account, 'PUT', path, { min_version: '1.2' });
  expect(await says(undefined, old)).toBe('hello over TLSv1.2');
  await done(account, 'DELETE', path);
  expect(await says()).toMatch(/^closed: ERR_SSL_/);
});
