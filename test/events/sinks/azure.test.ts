// Azure Monitor: what is sent, and what of its failures reaches delivery.

import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { azureSink } from '../../../src/events/sinks/azure/logs-ingestion.ts';
import { newEvent, newEvents, patience } from '../../support/events/aws-sinks.ts';
import { right } from '../../support/events/http-cloud.ts';
import { failureOf, openSinkLab, type SinkLab } from '../../support/events/http-sinks.ts';

let lab: SinkLab;
beforeAll(async () => {
  lab = await openSinkLab();
});
afterAll(() => lab.close());

const target = {
  tenantId: right.tenantId,
  clientId: right.clientId,
  clientSecret: right.clientSecret,
  logsIngestionUri: 'https://events-a1b2.westeurope-1.ingest.monitor.azure.com',
  dataCollectionRuleId: `dcr-${'0a'.repeat(16)}`,
  dataCollectionStreamName: 'Custom-Gateway_CL',
};
const open = (change: Partial<typeof target> = {}) => azureSink({ ...target, ...change }, lab.parts());
const since = (count: number) => lab.cloud.requests.slice(count).map(({ service }) => service);

test('events arrive as rows, compressed once, with a token that is asked for once', async () => {
  const sink = await open();
  const events = newEvents(3, { object: { uri: 'ümläute', count: 5 } });
  const before = lab.cloud.requests.length;
  expect(await sink.put(events, patience)).toEqual([]);
  await sink.put(newEvents(1), patience);
  expect(since(before)).toEqual(['login', 'azure', 'azure']);
  const [token, upload] = lab.cloud.requests.slice(before);
  expect(new URLSearchParams(token?.raw.toString()).get('scope')).toContain('https://monitor.azure.com/.default');
  expect(upload?.path).toContain(`/dataCollectionRules/${target.dataCollectionRuleId}/streams/Custom-Gateway_CL?`);
  expect(upload?.headers['content-encoding']).toBe('gzip');
  expect(JSON.parse(gunzipSync(upload?.raw ?? '').toString())).toEqual(
    events.map(({ id, type, text }) => ({
      TimeGenerated: JSON.parse(text).event_timestamp,
      event_id: id,
      event_type: type,
      object: { uri: 'ümläute', count: 5 },
    })),
  );
});

test('a request of the largest size is one request; a row of 1.5 MB is over the cap', async () => {
  const sink = await open();
  const event = newEvent({ object: { text: 'x'.repeat(10_000) } });
  const count = Math.floor(sink.limits.bytes / sink.sizeOf(event));
  const before = lab.cloud.requests.filter(({ service }) => service === 'azure').length;
  await sink.put(Array(count).fill(event), patience);
  expect(lab.cloud.requests.filter(({ service }) => service === 'azure').length).toBe(before + 1);
  expect(Buffer.byteLength(JSON.stringify(lab.cloud.requests.at(-1)?.json))).toBeGreaterThan(900_000);
  const large = newEvent({ object: { text: 'x'.repeat(1_500_000) } });
  expect(sink.sizeOf(large)).toBeGreaterThan(sink.limits.recordBytes);
});

test.each([
  [{ status: 503 }, { kind: 'retry', code: 'HTTP 503' }],
  [
    { status: 429, headers: { 'retry-after': '3' } },
    { kind: 'retry', code: 'HTTP 429', retryAfter: 3000 },
  ],
  [{ status: 413 }, { kind: 'split', code: 'HTTP 413' }],
  [
    { status: 400, body: { error: { code: 'InvalidRow', message: 'no' } } },
    { kind: 'split', code: 'HTTP 400' },
  ],
  [
    { status: 400, body: { error: { code: 'InvalidStream', message: 'no' } } },
    { kind: 'config', code: 'HTTP 400' },
  ],
  [
    { status: 403, body: { error: { code: 'OperationFailed', message: 'no access\n to the rule' } } },
    { kind: 'config', code: 'HTTP 403', message: 'it answered 403: OperationFailed: no access to the rule' },
  ],
  [
    { status: 404, body: 'not JSON' },
    { kind: 'config', code: 'HTTP 404' },
  ],
  [{ status: 200, body: 'x'.repeat(100_000) }, { kind: 'retry' }],
  ['reset' as const, { kind: 'retry', code: 'ECONNRESET' }],
])('%j', async (fault, failure) => {
  const sink = await open();
  lab.cloud.script('azure', [fault]);
  const before = lab.cloud.requests.length;
  expect(await failureOf(sink.put(newEvents(1), patience))).toMatchObject(failure);
  expect(since(before).filter((service) => service === 'azure')).toEqual(['azure']);
  expect(await sink.put(newEvents(1), patience)).toEqual([]);
});

test('redirections are not followed, wherever they lead', async () => {
  const sink = await open();
  for (const location of [`${lab.cloud.url}/elsewhere`, 'https://169.254.169.254/']) {
    lab.cloud.script('azure', [{ status: 307, headers: { location } }]);
    const before = lab.cloud.requests.length;
    expect(await failureOf(sink.put(newEvents(1), patience))).toMatchObject({ kind: 'config', code: 'HTTP 307' });
    expect(since(before).filter((service) => service !== 'login')).toEqual(['azure']);
  }
});

test('a wrong secret is a configuration failure', async () => {
  const sink = await open({ clientSecret: 'wrong' });
  expect(await failureOf(sink.put(newEvents(1), patience))).toEqual({
    kind: 'config',
    code: 'AADSTS7000215',
    message:
      'it answered 401: AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is ' +
      'the client secret value, not the client secret ID.',
    retryAfter: undefined,
  });
});

test.each([
  [{ status: 503 }, 'retry'],
  [{ status: 429, headers: { 'retry-after': '1' } }, 'retry'],
  [{ status: 400, body: { error: 'server_error', error_description: 'AADSTS90033: transient' } }, 'retry'],
  [{ status: 400, body: { error: 'unauthorized_client', error_description: 'AADSTS700016: no such' } }, 'config'],
  [{ status: 307, headers: { location: 'https://169.254.169.254/' } }, 'config'],
  [{ status: 200, body: 'a page' }, 'retry'],
  [{ status: 200, body: { access_token: 'two\r\nlines', expires_in: 3599 } }, 'retry'],
  ['reset' as const, 'retry'],
])('the login answers %j: %s', async (fault, kind) => {
  lab.cloud.script('login', [fault]);
  expect(await failureOf((await open()).put(newEvents(1), patience))).toMatchObject({ kind });
});

test('a rejected token is a configuration failure, and another is asked for at the next try', async () => {
  const sink = await open();
  await sink.put(newEvents(1), patience);
  lab.cloud.forgetTokens();
  expect(await failureOf(sink.put(newEvents(1), patience))).toMatchObject({ kind: 'config', code: 'HTTP 401' });
  expect(await sink.put(newEvents(1), patience)).toEqual([]);
});

test('a token is asked for anew five minutes before it ends', async () => {
  let ahead = 0;
  const parts = lab.parts();
  const sink = await azureSink(target, { ...parts, now: () => parts.now() + ahead });
  await sink.put(newEvents(1), patience);
  const askedAfter = async (ms: number) => {
    ahead = ms;
    const before = lab.cloud.requests.length;
    await sink.put(newEvents(1), patience);
    return since(before);
  };
  expect(await askedAfter(3200_000)).toEqual(['azure']);
  expect(await askedAfter(3400_000)).toEqual(['login', 'azure']);
});

test.each(['login', 'azure'] as const)(
  'a request to the %s that is never answered ends when it is told to',
  async (service) => {
    lab.cloud.script(service, ['blackHole']);
    const sink = await open();
    const ending = new AbortController();
    const failure = failureOf(sink.put(newEvents(1), ending.signal));
    await lab.cloud.arrives(service);
    ending.abort();
    expect(await failure).toMatchObject({ kind: 'retry' });
  },
);

test.each([
  ['login', 'azureLogin', []],
  ['azure', 'azure', ['login']],
] as const)('the %s is not asked at a private address', async (_, name, asked) => {
  const { outbound, settings, ...parts } = lab.parts();
  // The same place by a name that no override has.
  const eventEndpoints = { ...settings.eventEndpoints, [name]: `https://127.0.0.1:${lab.cloud.port}` };
  const sink = await azureSink(target, { ...parts, outbound, settings: { ...settings, eventEndpoints } });
  const before = lab.cloud.requests.length;
  const failure = await failureOf(sink.put(newEvents(1), patience));
  expect(failure).toMatchObject({ kind: 'config', code: 'FORBIDDEN_ADDRESS' });
  expect(since(before)).toEqual(asked);
});

test('proxies of the environment are not used', async () => {
  process.env.HTTPS_PROXY = 'http://127.0.0.1:1';
  try {
    const sink = await open();
    expect(await sink.put(newEvents(1), patience)).toEqual([]);
  } finally {
    delete process.env.HTTPS_PROXY;
  }
});

test('without a secret, or at a host that is not Azure’s, it is not opened', async () => {
  const none = azureSink({ ...target, clientSecret: null }, lab.parts());
  expect(await failureOf(none)).toMatchObject({ kind: 'config', code: 'NoClientSecret' });
  for (const host of ['evil.org', 'ingest.monitor.azure.com.evil.org', 'evilingest.monitor.azure.com', '127.0.0.1'])
    expect(await failureOf(open({ logsIngestionUri: `https://${host}` }))).toMatchObject({ code: 'FORBIDDEN_HOST' });
});

test('other clouds have other audiences', async () => {
  for (const [end, audience] of [
    ['us', 'https://monitor.azure.us'],
    ['cn', 'https://monitor.azure.cn'],
  ] as const) {
    const before = lab.cloud.requests.length;
    const sink = await open({ logsIngestionUri: `https://a.ingest.monitor.azure.${end}` });
    await sink.put(newEvents(1), patience);
    const token = lab.cloud.requests.slice(before).find(({ path }) => path.includes('/oauth2/v2.0/token'));
    expect(new URLSearchParams(token?.raw.toString()).get('scope')).toContain(`${audience}/.default`);
  }
});
