// Datadog and Azure, through the whole gateway: what its API says while a cloud fails, and that everything arrives.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure, expectInOrder, expectWell } from '../../events/clouds/support.ts';
import { type CloudKind, type CloudLab, httpKinds, openCloudLab } from '../../support/events/clouds-lab.ts';
import type { Fault, HttpService } from '../../support/events/http-cloud.ts';

let lab: CloudLab;
beforeAll(async () => {
  lab = await openCloudLab();
});
afterAll(() => lab.close());

/** Until it is told otherwise. */
const always = (fault: Fault) => Array<Fault>(100).fill(fault);
const serviceOf: Record<string, HttpService> = { datadog: 'datadog', azure_logs_ingestion: 'azure' };
const script = (kind: CloudKind, faults: Fault[]) => lab.http.script(serviceOf[kind] as HttpService, faults);
const each = async (work: (kind: CloudKind) => Promise<void>) => {
  await Promise.all(httpKinds.map(work));
};

const retrying = (code: string) => ({ state: 'retrying', code });
const failing = (code: string) => ({ state: 'failing', code });
type Row = [name: string, fault: Fault, expected: { state: string; code: string }];

test.each<Row>([
  ['503', { status: 503, body: '<html>at proxy.inner.example</html>' }, retrying('HTTP 503')],
  ['429', { status: 429 }, retrying('HTTP 429')],
  ['408', { status: 408 }, retrying('HTTP 408')],
  ['a reset', 'reset', retrying('ECONNRESET')],
  ['403', { status: 403 }, failing('HTTP 403')],
  ['404', { status: 404 }, failing('HTTP 404')],
  ['a redirection', { status: 307, headers: { location: 'https://127.0.0.1:1/' } }, failing('HTTP 307')],
])('%s', (_, fault, expected) =>
  each(async (kind) => {
    script(kind, always(fault));
    const feed = await lab.feed(kind);
    const made = await feed.make(2);
    await expectFailure(feed, { ...expected, waiting: 2 });
    expect((await feed.look()).last_error.message).not.toContain('inner');
    script(kind, []);
    await feed.due();
    made.push(...(await feed.make(1)));
    await expectWell(feed, { delivered: 3, lastError: expected.code });
    expectInOrder(feed, made);
  }),
);

// One after the other: they have the same clock.
test.each(httpKinds)('what %s asks to wait is waited', async (kind) => {
  script(kind, always({ status: 429, headers: { 'retry-after': '240' } }));
  const feed = await lab.feed(kind);
  const made = await feed.make(1);
  await expectFailure(feed, { ...retrying('HTTP 429'), waiting: 1 });
  const { next_attempt_at, last_error, attempts } = await feed.look();
  expect(Date.parse(next_attempt_at) - Date.parse(last_error.at)).toBe(240_000);
  made.push(...(await feed.make(1)));
  script(kind, []);
  await feed.trial();
  expect(await feed.look()).toMatchObject({ attempts, next_attempt_at, waiting_events: 2 });
  await feed.due();
  made.push(...(await feed.make(1)));
  await expectWell(feed, { delivered: 3 });
  expectInOrder(feed, made);
});

test('the answer is lost although the events were taken: they come again, under the same ids', () =>
  each(async (kind) => {
    const feed = await lab.feed(kind);
    const made = await feed.make(1);
    await expectWell(feed, { delivered: 1 });
    script(kind, ['lost']);
    made.push(...(await feed.make(1)));
    await feed.until(({ last_error }) => last_error?.code === 'ECONNRESET');
    await feed.due();
    made.push(...(await feed.make(1)));
    await expectWell(feed, { delivered: 3 });
    expect(feed.arrived().length).toBe(4);
    expectInOrder(feed, made);
  }));

test.each([413, 400])('an event that is refused with %i is a dead letter, and those around it arrive', (status) =>
  each(async (kind) => {
    script(kind, always({ status: 503 }));
    const feed = await lab.feed(kind);
    const made = await feed.make(5);
    await feed.until(({ attempts }) => attempts > 0);
    const [poison = ''] = made.splice(2, 1);
    poisons.set(kind, poison);
    lab.http.refuses = (text) => ([...poisons.values()].some((id) => text.includes(id)) ? { status } : undefined);
    script(kind, []);
    await feed.due();
    made.push(...(await feed.make(1)));
    await feed.until(({ dead_letters }) => dead_letters === 1);
    await expectWell(feed, { delivered: 5 });
    expectInOrder(feed, made);
    const { body } = await feed.account.call('GET', `${feed.path}/dead_letters`);
    expect(body.dead_letters).toMatchObject([{ event_type: 'ip_policy_created.v0', error_code: `HTTP ${status}` }]);
    const [letter] = body.dead_letters;
    expect(JSON.parse(letter.event)).toMatchObject({ event_id: letter.event_id, object: { id: poison } });

    poisons.delete(kind);
    await feed.account.call('POST', `${feed.path}/dead_letters/retry`);
    await expectWell(feed, { delivered: 6 });
    expect(feed.arrived().at(-1)).toMatchObject({ event_id: letter.event_id, object: { id: poison } });
  }),
);
const poisons = new Map<CloudKind, string>();

test('a wrong secret fails until it is mended, and then what waited arrives at once', () =>
  each(async (kind) => {
    const feed = await lab.feed(kind, { secret: 'wrong' });
    const made = await feed.make(2);
    await expectFailure(feed, { ...failing(kind === 'datadog' ? 'HTTP 403' : 'AADSTS7000215'), waiting: 2 });
    await feed.mend();
    await expectWell(feed, { delivered: 2 });
    made.push(...(await feed.make(1)));
    await expectWell(feed, { delivered: 3 });
    expectInOrder(feed, made);
  }));

test.each<Row>([
  ['503', { status: 503 }, retrying('HTTP 503')],
  ['429', { status: 429, headers: { 'retry-after': '60' } }, retrying('HTTP 429')],
  ['a reset', 'reset', retrying('ECONNRESET')],
  [
    'that there is no such tenant',
    {
      status: 400,
      body: { error: 'invalid_request', error_description: 'AADSTS90002: Tenant not found. Trace ID: 1' },
    },
    failing('AADSTS90002'),
  ],
  ['what is no token', { status: 200, body: 'Welcome to login.inner.example' }, { state: 'retrying', code: '' }],
])('the login of Azure answers with %s', async (_, fault, { state, code }) => {
  lab.http.script('login', always(fault));
  const feed = await lab.feed('azure_logs_ingestion');
  const made = await feed.make(1);
  await expectFailure(feed, { state, code: code || expect.any(String), waiting: 1 });
  expect((await feed.look()).last_error.message).not.toMatch(/inner|localhost|Trace/);
  lab.http.script('login', []);
  await feed.due();
  made.push(...(await feed.make(1)));
  await expectWell(feed, { delivered: 2 });
  expectInOrder(feed, made);
});

test('what Azure gets are rows with the columns of the manual', async () => {
  const feed = await lab.feed('azure_logs_ingestion');
  await feed.make(1);
  await expectWell(feed, { delivered: 1 });
  const [row] = feed.arrived();
  expect(Object.keys(row)).toEqual(['TimeGenerated', 'event_id', 'event_type', 'object']);
  expect(row).toMatchObject({ event_id: expect.stringMatching(/^ev_/), event_type: 'ip_policy_created.v0' });
});
