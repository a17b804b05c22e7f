// An OpenTelemetry collector, through the whole gateway: what its API says while the collector fails, and what arrives.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure, expectInOrder, expectWell } from '../../events/clouds/support.ts';
import { type CloudLab, openCloudLab } from '../../support/events/clouds-lab.ts';
import type { Fault } from '../../support/events/http-cloud.ts';

let lab: CloudLab;
beforeAll(async () => {
  lab = await openCloudLab();
});
afterAll(() => lab.close());

/** Until it is told otherwise. */
const always = (fault: Fault) => lab.http.script('otlp', Array<Fault>(100).fill(fault));
const servesAgain = () => lab.http.script('otlp', []);

test.each<[string, Fault, string]>([
  ['429', { status: 429, headers: { 'retry-after': '1' } }, 'HTTP 429'],
  ['502', { status: 502 }, 'HTTP 502'],
  ['503', { status: 503 }, 'HTTP 503'],
  ['504', { status: 504 }, 'HTTP 504'],
  ['a reset', 'reset', 'ECONNRESET'],
])('%s is retried, and then everything arrives in its order', async (_, fault, code) => {
  always(fault);
  const feed = await lab.feed('otlp');
  const made = await feed.make(2);
  await expectFailure(feed, { state: 'retrying', code, waiting: 2 });
  servesAgain();
  await feed.due();
  made.push(...(await feed.make(1)));
  await expectWell(feed, { delivered: 3, lastError: code });
  expectInOrder(feed, made);
});

test('a wrong header value makes dead letters, which are sent again once it is mended', async () => {
  const feed = await lab.feed('otlp', { secret: 'wrong' });
  const made = await feed.make(2);
  await feed.until(({ dead_letters }) => dead_letters === 2);
  expect(await feed.trial()).toMatchObject({ ok: false, error_code: 'HTTP 401' });
  await feed.mend();
  await feed.account.call('POST', `${feed.path}/dead_letters/retry`);
  await expectWell(feed, { delivered: 2 });
  expectInOrder(feed, made);
});

test('a header value that an update leaves out stays, and goes to no other endpoint', async () => {
  const feed = await lab.feed('otlp');
  const headers = [{ name: 'authorization' }];
  const patch = (otlp: object) => feed.account.call('PATCH', feed.path, { target: { otlp } });
  const { status, body } = await patch({ endpoint: lab.http.url, headers });
  expect({ status, headers: body.target.otlp.headers }).toEqual({
    status: 200,
    headers: [{ name: 'authorization', value: null }],
  });
  const made = await feed.make(1);
  await expectWell(feed, { delivered: 1 });
  expectInOrder(feed, made);
  expect(await patch({ endpoint: `${lab.http.url}/x`, headers })).toMatchObject({
    status: 400,
    body: { error_code: 'ERR_GATEWAY_90066', msg: expect.stringContaining('target.otlp.headers[0].value') },
  });
  expect(await patch({ endpoint: lab.http.url, headers: [{ name: 'x-other' }] })).toMatchObject({
    status: 400,
    body: { error_code: 'ERR_GATEWAY_90060' },
  });
});

test('records that the collector rejects are counted, and not sent again', async () => {
  always({ status: 503 });
  const feed = await lab.feed('otlp');
  await feed.make(3);
  await feed.until(({ attempts, waiting_events }) => attempts > 0 && waiting_events === 3);
  // After a failure the first request has one event, to find out whether the target works again.
  lab.http.script('otlp', [
    { status: 200, body: {} },
    { status: 200, body: { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'old' } } },
  ]);
  await feed.due();
  await feed.make(1);
  await feed.until(({ waiting_events }) => waiting_events === 0);
  expect(await feed.look()).toMatchObject({ state: 'ok', delivered_events: 3, dead_letters: 0, dropped_events: 0 });
  const metrics = await (await fetch(`${lab.gateway.admin}/metrics`)).text();
  expect(metrics).toMatch(/events_rejected_total\{target="otlp"\} 1/);
});
