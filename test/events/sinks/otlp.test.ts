// OpenTelemetry logs over OTLP/HTTP: what a collector receives, and what its responses mean.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SinkContext } from '../../../src/events/sinks/descriptor.ts';
import { otlp, otlpSink } from '../../../src/events/sinks/otlp.ts';
import { newEvent, newEvents, patience } from '../../support/events/aws-sinks.ts';
import { type HttpRequest, right } from '../../support/events/http-cloud.ts';
import { failureOf, openSinkLab, type SinkLab } from '../../support/events/http-sinks.ts';
import { readLogsRequest } from '../../support/events/otlp-proto.ts';

let lab: SinkLab;
let context: SinkContext;
beforeAll(async () => {
  lab = await openSinkLab();
  context = lab.parts({ eventWebhookHosts: ['localhost', '127.0.0.0/8', '::1/128'], eventEndpoints: {} });
});
afterAll(() => lab.close());

const target = (change: object = {}) => ({
  endpoint: lab.cloud.url,
  headers: [{ name: 'authorization', value: `Bearer ${right.otlpToken}` }],
  compression: 'none',
  resourceAttributes: [{ name: 'deployment.environment.name', value: 'prod' }],
  ...change,
});
const open = (change?: object) => otlpSink(target(change), context);
const last = () => lab.cloud.requests.at(-1) as HttpRequest;
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

test('events arrive as log records in the JSON mapping of Protocol Buffers', async () => {
  lab.time = 1_780_000_000_999;
  const events = newEvents(3, { object: { uri: 'ümläute "\\ \u2028' } });
  expect(await (await open()).put(events, patience)).toEqual([]);
  const { method, path, headers, json } = last();
  expect({ method, path }).toEqual({ method: 'POST', path: '/v1/logs' });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    authorization: `Bearer ${right.otlpToken}`,
  });
  expect(headers['content-encoding']).toBeUndefined();
  expect(readLogsRequest(json)).toEqual(json);
  expect(json).toEqual({
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', 'tunnel-gateway'), text('deployment.environment.name', 'prod')] },
        scopeLogs: [
          {
            scope: { name: 'tunnel-gateway' },
            logRecords: events.map((event) => ({
              timeUnixNano: `${event.at}000000`,
              observedTimeUnixNano: '1780000000999000000',
              severityNumber: 9,
              severityText: 'INFO',
              eventName: event.type,
              body: { stringValue: event.text },
              attributes: [
                text('log.record.uid', event.id),
                text('event.name', event.type),
                text('tunnel_gateway.account.id', 'ac_2xyz'),
              ],
            })),
          },
        ],
      },
    ],
  });
});

test('a request is compressed where the target says so', async () => {
  await (await open({ compression: 'gzip' })).put(newEvents(1), patience);
  expect(last().headers['content-encoding']).toBe('gzip');
  expect(last().raw[0]).toBe(0x1f);
  expect(readLogsRequest(last().json)).toEqual(last().json);
});

test('a path of the endpoint stays, and so does its query', async () => {
  const { cloud } = lab;
  cloud.script('webhook', [{ status: 200 }]);
  await (await open({ endpoint: `${cloud.url}/otlp/v1/logs?tenant=a` })).put(newEvents(1), patience);
  expect(last().path).toBe('/otlp/v1/logs?tenant=a');
});

test('the target can set the service name', async () => {
  await (await open({ resourceAttributes: [{ name: 'service.name', value: 'edge' }] })).put(newEvents(1), patience);
  expect(last().json).toMatchObject({ resourceLogs: [{ resource: { attributes: [text('service.name', 'edge')] } }] });
});

test('the sum of sizes is never below what is sent', async () => {
  const sink = await open();
  const events = newEvents(50, { object: { path: '/"\\\n\u2028ü'.repeat(20) } });
  await sink.put(events, patience);
  const { bytes, records, recordBytes } = sink.limits;
  const said = events.reduce((sum, event) => sum + sink.sizeOf(event), 4 * 1024 * 1024 - bytes);
  expect(said).toBeGreaterThanOrEqual(last().raw.length);
  expect(said).toBeLessThan(last().raw.length + 10);
  expect({ records, recordBytes }).toEqual({ records: 1000, recordBytes: 1024 * 1024 });
});

test.each([
  [
    { status: 429, headers: { 'retry-after': '7' } },
    { kind: 'retry', code: 'HTTP 429', retryAfter: 7000 },
  ],
  [{ status: 502 }, { kind: 'retry', code: 'HTTP 502' }],
  [
    { status: 503, headers: { 'retry-after': '2' } },
    { kind: 'retry', code: 'HTTP 503', retryAfter: 2000 },
  ],
  [{ status: 504 }, { kind: 'retry', code: 'HTTP 504' }],
  [{ status: 413 }, { kind: 'split', code: 'HTTP 413' }],
  [
    { status: 307, headers: { location: 'https://127.0.0.1:1/' } },
    { kind: 'config', code: 'HTTP 307' },
  ],
  ['reset' as const, { kind: 'retry', code: 'ECONNRESET' }],
])('%j may be sent again', async (fault, failure) => {
  lab.cloud.script('otlp', [fault]);
  expect(await failureOf((await open()).put(newEvents(2), patience))).toMatchObject(failure);
});

test.each([400, 401, 403, 404, 408, 422, 500, 501])(
  '%i must not be retried: the events are refused',
  async (status) => {
    lab.cloud.script('otlp', [{ status, body: { code: 3, message: 'what a service of the network says' } }]);
    const refused = { fate: 'refused', code: `HTTP ${status}`, message: `it answered ${status}` };
    expect(await (await open()).put(newEvents(2), patience)).toEqual([
      { index: 0, ...refused },
      { index: 1, ...refused },
    ]);
  },
);

const partial = (rejectedLogRecords: unknown, errorMessage = 'too old') => ({
  status: 200,
  body: { partialSuccess: { rejectedLogRecords, errorMessage } },
});

test('records that the receiver rejects without saying which are counted, and not sent again', async () => {
  // 64-bit integers are texts in JSON; receivers also send numbers.
  for (const rejected of ['2', 2]) {
    lab.cloud.script('otlp', [partial(rejected)]);
    expect(await (await open()).put(newEvents(3), patience)).toEqual([
      { fate: 'unnamed', count: 2, code: 'PartialSuccess', message: 'too old' },
    ]);
  }
});

test('when all records are rejected, each becomes a dead letter', async () => {
  lab.cloud.script('otlp', [partial('2', '')]);
  const refused = { fate: 'refused', code: 'PartialSuccess', message: 'the receiver gave no reason' };
  expect(await (await open()).put(newEvents(2), patience)).toEqual([
    { index: 0, ...refused },
    { index: 1, ...refused },
  ]);
});

test.each([
  partial('0', 'a warning'),
  partial('-1'),
  partial('x'),
  { status: 200, body: '' },
  { status: 200, body: 'null' },
])('%j takes all', async (fault) => {
  lab.cloud.script('otlp', [fault]);
  expect(await (await open()).put([newEvent()], patience)).toEqual([]);
});

test('without a value for a header field, or at a host that is not allowed, it is not opened', async () => {
  const none = open({ headers: [{ name: 'api-key', value: null }] });
  expect(await failureOf(none)).toMatchObject({ kind: 'config', code: 'NoHeaderValue' });
  const forbidden = otlpSink(target(), lab.parts({ eventWebhookHosts: [] }));
  expect(await failureOf(forbidden)).toMatchObject({ kind: 'config', code: 'FORBIDDEN_HOST' });
});

test('a name that leads to an address outside of the networks is not connected to', async () => {
  const { connections } = lab.cloud;
  const sink = await otlpSink(target(), lab.parts({ eventWebhookHosts: ['localhost'] }));
  expect(await failureOf(sink.put(newEvents(1), patience))).toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
  expect(lab.cloud.connections).toBe(connections);
});

const rules = { eventWebhookHosts: ['collector.example.com'], eventFileDir: undefined };
const check = (change: object) =>
  otlp.check({ endpoint: 'https://collector.example.com', ...change }, 'target.otlp', rules);

test('left-out members get their defaults, and names of header fields become lower case', () => {
  const headers = [{ name: 'Api-Key', value: 'a b' }];
  expect(check({ headers })).toEqual({
    endpoint: 'https://collector.example.com',
    headers: [{ name: 'api-key', value: 'a b' }],
    compression: 'none',
    resourceAttributes: [],
  });
});

test.each([
  [{ endpoint: '' }, 'endpoint'],
  [{ endpoint: 'https://evil.example.com' }, 'endpoint'],
  [{ endpoint: 'http://collector.example.com' }, 'endpoint'],
  [{ compression: 'zstd' }, 'compression'],
  [{ headers: [{ name: 'a b', value: 'x' }] }, 'headers[0].name'],
  [{ headers: [{ name: 'Content-Type', value: 'x' }] }, 'headers[0].name'],
  [{ headers: [{ name: 'Host', value: 'x' }] }, 'headers[0].name'],
  [
    {
      headers: [
        { name: 'a', value: 'x' },
        { name: 'A', value: 'y' },
      ],
    },
    'headers[1].name',
  ],
  [{ headers: [{ name: 'a', value: 'x\r\nb: c' }] }, 'headers[0].value'],
  [{ headers: [{ name: 'a', value: 'é' }] }, 'headers[0].value'],
  [{ headers: [{ name: 'a', value: 'x'.repeat(4097) }] }, 'headers[0].value'],
  [{ headers: Array.from({ length: 17 }, (_, n) => ({ name: `a${n}`, value: 'x' })) }, 'headers'],
  [{ resourceAttributes: [{ name: '', value: 'x' }] }, 'resourceAttributes[0].name'],
  [{ resourceAttributes: [{ name: 'a' }] }, 'resourceAttributes[0].value'],
  [
    {
      resourceAttributes: [
        { name: 'a', value: 'x' },
        { name: 'a', value: 'y' },
      ],
    },
    'resourceAttributes[1].name',
  ],
])('%j is refused', (change, member) => {
  expect(() => check(change)).toThrow(
    expect.objectContaining({ parameters: expect.objectContaining({ member: `target.otlp.${member}` }) }),
  );
});
