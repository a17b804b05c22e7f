// Datadog: what is sent, within which limits, and what its answers mean.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { datadogSink } from '../../../src/events/sinks/datadog.ts';
import { newEvent, newEvents, patience } from '../../support/events/aws-sinks.ts';
import { right } from '../../support/events/http-cloud.ts';
import { failureOf, openSinkLab, type SinkLab } from '../../support/events/http-sinks.ts';

let lab: SinkLab;
beforeAll(async () => {
  lab = await openSinkLab();
});
afterAll(() => lab.close());

const target = { apiKey: right.apiKey, ddsite: 'datadoghq.eu', ddtags: 'env:prod,team:edge', service: 'gateway' };
const open = () => datadogSink(target, lab.parts());

test('events arrive as an array of logs, compressed, with the key and what the target says of them', async () => {
  const sink = await open();
  const events = newEvents(3, { object: { uri: 'ümläute' } });
  expect(await sink.put(events, patience)).toEqual([]);
  const request = lab.cloud.requests.at(-1);
  expect(request).toMatchObject({ method: 'POST', path: '/api/v2/logs' });
  expect(request?.headers).toMatchObject({
    'dd-api-key': right.apiKey,
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  });
  expect(request?.json).toEqual(
    events.map(({ id, type, at, text }) => ({
      ddsource: 'tunnel-gateway',
      ddtags: 'env:prod,team:edge',
      service: 'gateway',
      timestamp: new Date(at).toISOString(),
      event_id: id,
      event_type: type,
      message: text,
    })),
  );
});

test('unset members of a target are left out, and so is the timestamp of events that are too old', async () => {
  const sink = await datadogSink({ ...target, ddtags: null, service: null }, lab.parts());
  const old = newEvent({ at: lab.time - 18 * 3_600_000 });
  await sink.put([old], patience);
  expect(lab.cloud.requests.at(-1)?.json).toEqual([
    { ddsource: 'tunnel-gateway', event_id: old.id, event_type: old.type, message: old.text },
  ]);
});

test('the sum of sizes is never below what is sent, and the documented limits hold', async () => {
  const sink = await open();
  const events = newEvents(50, { object: { path: '/"\\\n\u2028ü'.repeat(20) } });
  await sink.put(events, patience);
  const sent = Buffer.byteLength(JSON.stringify(lab.cloud.requests.at(-1)?.json));
  const said = events.reduce((sum, event) => sum + sink.sizeOf(event), 2);
  expect(said).toBeGreaterThanOrEqual(sent);
  expect(said).toBeLessThan(sent + 10);
  expect(sink.limits.records).toBe(1000);
  expect(sink.limits.bytes + 2).toBeLessThanOrEqual(5_000_000);
  expect(sink.limits.recordBytes).toBeLessThanOrEqual(1_000_000);
});

test.each([
  [{ status: 503 }, { kind: 'retry', code: 'HTTP 503' }],
  [{ status: 408 }, { kind: 'retry', code: 'HTTP 408' }],
  [
    { status: 429, headers: { 'x-ratelimit-reset': '7' } },
    { kind: 'retry', code: 'HTTP 429', retryAfter: 7000 },
  ],
  [
    { status: 429, headers: { 'retry-after': '2' } },
    { kind: 'retry', code: 'HTTP 429', retryAfter: 2000 },
  ],
  [
    { status: 503, headers: { 'retry-after': '999999' } },
    { kind: 'retry', retryAfter: 3_600_000 },
  ],
  [{ status: 413 }, { kind: 'split', code: 'HTTP 413' }],
  [
    { status: 400, body: { errors: ['bad'] } },
    { kind: 'split', message: 'it answered 400: bad' },
  ],
  [{ status: 401 }, { kind: 'config', code: 'HTTP 401' }],
  [{ status: 404 }, { kind: 'config', code: 'HTTP 404' }],
  [
    { status: 101, headers: { connection: 'upgrade', upgrade: 'h2c' } },
    { kind: 'retry', code: 'ECONNRESET' },
  ],
  ['reset' as const, { kind: 'retry', code: 'ECONNRESET' }],
])('%j', async (fault, failure) => {
  lab.cloud.script('datadog', [fault]);
  expect(await failureOf((await open()).put(newEvents(1), patience))).toMatchObject(failure);
});

test('a date in Retry-After is understood', async () => {
  const headers = { 'retry-after': new Date(lab.time + 90_000).toUTCString() };
  lab.cloud.script('datadog', [{ status: 503, headers }]);
  const { retryAfter } = await failureOf((await open()).put(newEvents(1), patience));
  expect(retryAfter).toBeGreaterThan(88_000);
  expect(retryAfter).toBeLessThanOrEqual(90_000);
});

test('a wrong key is a configuration failure, and without a key the sink is not opened', async () => {
  const sink = await datadogSink({ ...target, apiKey: 'wrong' }, lab.parts());
  expect(await failureOf(sink.put(newEvents(1), patience))).toMatchObject({ kind: 'config', code: 'HTTP 403' });
  const none = datadogSink({ ...target, apiKey: null }, lab.parts());
  expect(await failureOf(none)).toMatchObject({ kind: 'config', code: 'NoApiKey' });
});

test('an unanswered request ends with its signal', async () => {
  lab.cloud.script('datadog', ['blackHole']);
  const sink = await open();
  const ending = new AbortController();
  const put = sink.put(newEvents(1), ending.signal);
  const failure = failureOf(put);
  await lab.cloud.arrives('datadog');
  ending.abort();
  expect(await failure).toMatchObject({ kind: 'retry' });
});

test('a connection is used again', async () => {
  const sink = await open();
  await sink.put(newEvents(1), patience);
  const { connections } = lab.cloud;
  for (let i = 0; i < 5; i++) await sink.put(newEvents(1), patience);
  expect(lab.cloud.connections).toBe(connections);
});
