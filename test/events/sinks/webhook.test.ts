// Webhooks: signed so that a receiver who knows the secret can tell, and sent to whom the operator allows, nobody else.

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SinkContext } from '../../../src/events/sinks/descriptor.ts';
import { isUrlAllowed } from '../../../src/events/sinks/http/allowed-hosts.ts';
import { webhookSink } from '../../../src/events/sinks/webhook.ts';
import { newEvents, patience } from '../../support/events/aws-sinks.ts';
import type { HttpRequest } from '../../support/events/http-cloud.ts';
import { failureOf, openSinkLab, type SinkLab } from '../../support/events/http-sinks.ts';

let lab: SinkLab;
let parts: SinkContext;
let url: string;
beforeAll(async () => {
  lab = await openSinkLab();
  parts = lab.parts({ eventWebhookHosts: ['localhost', '127.0.0.0/8', '::1/128'], eventEndpoints: {} });
  url = `${lab.cloud.url}/hooks/1?a=b`;
});
afterAll(() => lab.close());

const signingSecret = 'a-secret-of-a-tenant';
const open = () => webhookSink({ url, signingSecret }, parts);

/** As a receiver does it who has read the specification. */
function isSigned({ headers, raw }: HttpRequest, key: Buffer): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw.toString()}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

test('events arrive as an array, signed with the secret', async () => {
  lab.time = 1_780_000_000_999;
  const sink = await open();
  const events = newEvents(3, { object: { uri: 'ümläute' } });
  expect(await sink.put(events, patience)).toEqual([]);
  const request = lab.cloud.requests.at(-1) as HttpRequest;
  expect(request).toMatchObject({ method: 'POST', path: '/hooks/1?a=b' });
  expect(request.json).toEqual(events.map(({ text }) => JSON.parse(text)));
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': `${events[0]?.id}-3`,
    'webhook-timestamp': '1780000000',
  });
  expect(isSigned(request, Buffer.from(signingSecret))).toBe(true);
  expect(isSigned(request, Buffer.from('another'))).toBe(false);
});

test('a secret behind whsec_ is base64', async () => {
  const key = Buffer.from('0123456789abcdef01234567');
  const sink = await webhookSink({ url, signingSecret: `whsec_${key.toString('base64')}` }, parts);
  await sink.put(newEvents(1), patience);
  expect(isSigned(lab.cloud.requests.at(-1) as HttpRequest, key)).toBe(true);
});

test('the message id is the same for each attempt with the same events, and different for other events', async () => {
  const sink = await open();
  const events = newEvents(2);
  lab.cloud.script('webhook', [{ status: 503 }]);
  await failureOf(sink.put(events, patience));
  lab.time += 5000;
  await sink.put(events, patience);
  await sink.put(events.slice(0, 1), patience);
  const [first, second, third] = lab.cloud.requests.slice(-3).map(({ headers }) => headers);
  expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
  expect(second?.['webhook-timestamp']).not.toBe(first?.['webhook-timestamp']);
  expect(third?.['webhook-id']).not.toBe(first?.['webhook-id']);
});

test('a request of the largest size is as large as documented', async () => {
  const sink = await open();
  const [event] = newEvents(1);
  const count = Math.floor(sink.limits.bytes / sink.sizeOf(event as never));
  await sink.put(Array(count).fill(event), patience);
  const { raw } = lab.cloud.requests.at(-1) as HttpRequest;
  expect(raw.length).toBeLessThanOrEqual(1024 * 1024);
  expect(raw.length).toBeGreaterThan(1024 * 1024 - 1000);
  expect(sink.limits.records).toBe(500);
});

test.each([
  [200, 'taken'],
  [410, 'config'],
  [401, 'config'],
  [403, 'config'],
  [404, 'config'],
  [301, 'config'],
  [413, 'split'],
  [400, 'split'],
  [422, 'split'],
  [408, 'retry'],
  [409, 'retry'],
  [429, 'retry'],
  [500, 'retry'],
  [503, 'retry'],
] as const)('%i: %s', async (status, kind) => {
  lab.cloud.script('webhook', [{ status, body: 'what a service of the network says' }]);
  const put = (await open()).put(newEvents(1), patience);
  if (kind === 'taken') return expect(await put).toEqual([]);
  const failure = await failureOf(put);
  expect(failure).toMatchObject({ kind, code: `HTTP ${status}` });
  expect(failure.message).not.toContain('service of the network');
});

test('without a secret, or at a host that is not allowed any more, a webhook is not opened', async () => {
  const none = webhookSink({ url, signingSecret: null }, parts);
  expect(await failureOf(none)).toMatchObject({ kind: 'config', code: 'NoSigningSecret' });
  const forbidden = webhookSink({ url, signingSecret }, lab.parts({ eventWebhookHosts: [] }));
  expect(await failureOf(forbidden)).toMatchObject({ kind: 'config', code: 'FORBIDDEN_HOST' });
});

test.each([
  ['a name that leads to an address outside of the networks', ['localhost'], 'https'],
  ['a name without a rule that leads elsewhere than into the networks', ['10.0.0.0/8'], 'https'],
  ['a name over http that leads elsewhere than into the networks', ['localhost', '10.0.0.0/8'], 'http'],
])('%s is not connected to', async (_, eventWebhookHosts, scheme) => {
  const { connections } = lab.cloud;
  const sink = await webhookSink(
    { url: url.replace('https', scheme), signingSecret },
    // Overrides are for clouds alone.
    lab.parts({ eventWebhookHosts, eventEndpoints: lab.cloud.endpoints }),
  );
  expect(await failureOf(sink.put(newEvents(1), patience))).toMatchObject({
    kind: 'config',
    code: 'FORBIDDEN_ADDRESS',
  });
  expect(lab.cloud.connections).toBe(connections);
});

test('http URLs are allowed in listed networks only', async () => {
  const plain = createServer((_, response) => void response.writeHead(200).end()).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  for (const host of ['localhost', '127.0.0.1']) {
    const sink = await webhookSink({ url: `http://${host}:${port}/`, signingSecret }, parts);
    expect(await sink.put(newEvents(1), patience)).toEqual([]);
  }
  plain.closeAllConnections();
  plain.close();
});

test('rules: names, what is below names, networks', () => {
  const allowed = (url: string, ...eventWebhookHosts: string[]) => isUrlAllowed(url, { eventWebhookHosts }) === true;
  expect(allowed('https://hooks.example.com/x', 'hooks.example.com')).toBe(true);
  expect(allowed('https://HOOKS.example.com:8443/', 'hooks.example.com')).toBe(true);
  expect(allowed('https://a.b.example.com/', '*.example.com')).toBe(true);
  expect(allowed('https://10.1.2.3/', '10.0.0.0/8')).toBe(true);
  expect(allowed('http://10.1.2.3/', '10.0.0.0/8')).toBe(true);
  expect(allowed('https://[fd00::5]/', 'fd00::/8')).toBe(true);
  expect(allowed('https://[::ffff:10.1.2.3]/', '10.0.0.0/8')).toBe(true);
  // Where its name leads is seen when it is connected to.
  expect(allowed('https://inner.example.com/', '10.0.0.0/8')).toBe(true);

  expect(allowed('https://hooks.example.com/')).toBe(false);
  expect(allowed('https://example.com/', '*.example.com')).toBe(false);
  expect(allowed('https://badexample.com/', '*.example.com', 'example.com')).toBe(false);
  expect(allowed('https://hooks.example.com.evil.org/', 'hooks.example.com')).toBe(false);
  expect(allowed('https://hooks.example.com@evil.org/', 'hooks.example.com')).toBe(false);
  expect(allowed('https://user:word@hooks.example.com/', 'hooks.example.com')).toBe(false);
  expect(allowed('http://hooks.example.com/', 'hooks.example.com')).toBe(false);
  expect(allowed('https://11.1.2.3/', '10.0.0.0/8')).toBe(false);
  expect(allowed('https://0x0b010203/', '10.0.0.0/8', '*.example.com')).toBe(false);
  for (const url of ['', 'hooks.example.com', 'ftp://hooks.example.com/', 'file:///etc/passwd', 'javascript:1'])
    expect([url, allowed(url, 'hooks.example.com', '0.0.0.0/0')]).toEqual([url, false]);
});
