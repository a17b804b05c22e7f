// The services of AWS, through the whole gateway: what its API says while a cloud fails, and that everything arrives.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure, expectInOrder, expectWell } from '../../events/clouds/support.ts';
import type { Fault } from '../../support/events/aws-cloud.ts';
import { ACCOUNT } from '../../support/events/aws-sinks.ts';
import {
  type AwsKind,
  awsKinds,
  type CloudLab,
  type Feed,
  openCloudLab,
  serviceOf,
} from '../../support/events/clouds-lab.ts';

let lab: CloudLab;
beforeAll(async () => {
  lab = await openCloudLab();
});
afterAll(() => lab.close());

/** The test runs for each kind at the same time: they have nothing in common but the gateway. */
const each = async (work: (kind: AwsKind) => Promise<void>) => {
  await Promise.all(awsKinds.map(work));
};
/** Until it is told otherwise. */
const always = (fault: Fault) => Array<Fault>(100).fill(fault);
const script = (kind: AwsKind, faults: Fault[]) => lab.aws.script(serviceOf(kind), faults);

const redirect = { status: 301, headers: { Location: 'https://127.0.0.1:1/' } };
const retrying = (code: string) => ({ state: 'retrying', code });
const failing = (code: string) => ({ state: 'failing', code });

test.each<[name: string, fault: Fault, expected: { state: string; code: string }]>([
  ['503', { status: 503 }, retrying('HTTP 503')],
  [
    'throttling',
    { status: 400, code: 'ThrottlingException', message: 'Rate exceeded' },
    retrying('ThrottlingException'),
  ],
  ['a reset', 'reset', retrying('ECONNRESET')],
  ['an answer that is none of AWS', { answer: '<html>' }, retrying('HTTP 200')],
  ['rights that are missing', { status: 400, code: 'AccessDeniedException' }, failing('AccessDeniedException')],
  ['a redirection', redirect, failing('HTTP 301')],
])('%s', (_, fault, expected) =>
  each(async (kind) => {
    script(kind, always(fault));
    const feed = await lab.feed(kind);
    const made = await feed.make(2);
    await expectFailure(feed, { ...expected, waiting: 2 });
    script(kind, []);
    await feed.due();
    made.push(...(await feed.make(1)));
    await expectWell(feed, { delivered: 3, lastError: expected.code });
    expectInOrder(feed, made);
  }),
);

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

// One after the other: they have the same clock.
test.each(['firehose', 'kinesis'] as const)(
  'what %s does not take of a request is sent again, and nothing else is',
  async (kind) => {
    script(kind, always({ status: 503, headers: { 'Retry-After': '300' } }));
    const feed = await lab.feed(kind);
    const made = await feed.make(1);
    await feed.until(({ attempts }) => attempts > 0);
    made.push(...(await feed.make(3)));
    // The first event goes alone, to see whether it works again.
    script(kind, ['pass', { partial: [1, 3] }, ...always({ status: 503 })]);
    await feed.due();
    made.push(...(await feed.make(1)));
    await feed.until(({ delivered_events }) => delivered_events > 1);
    expect(await feed.look()).toMatchObject({ state: 'retrying', delivered_events: 3, waiting_events: 2 });
    script(kind, []);
    await feed.due();
    made.push(...(await feed.make(1)));
    await expectWell(feed, { delivered: 6 });
    const [a, b, c, d, e, f] = made;
    expect(feed.arrived().map(({ object }) => object.id)).toEqual([a, b, d, c, e, f]);
  },
);

test.each([
  ['413', { status: 413 }, 'HTTP 413'],
  ['what is wrong in it', { status: 400, code: 'ValidationException' }, 'ValidationException'],
])('an event that is refused for %s is a dead letter, and those around it arrive', (_, refusal, code) =>
  each(async (kind) => {
    script(kind, always({ status: 503 }));
    const feed = await lab.feed(kind);
    const made = await feed.make(5);
    await feed.until(({ attempts }) => attempts > 0);
    const [poison = ''] = made.splice(2, 1);
    poisons.set(kind, poison);
    lab.aws.refuses = (text) => ([...poisons.values()].some((id) => text.includes(id)) ? refusal : undefined);
    script(kind, []);
    await feed.due();
    made.push(...(await feed.make(1)));
    await feed.until(({ dead_letters }) => dead_letters === 1);
    await expectWell(feed, { delivered: 5 });
    expectInOrder(feed, made);
    const { body } = await feed.account.call('GET', `${feed.path}/dead_letters`);
    expect(body.dead_letters).toMatchObject([{ event_type: 'ip_policy_created.v0', error_code: code }]);
    const [letter] = body.dead_letters;
    expect(JSON.parse(letter.event)).toMatchObject({ event_id: letter.event_id, object: { id: poison } });

    poisons.delete(kind);
    await feed.account.call('POST', `${feed.path}/dead_letters/retry`);
    await expectWell(feed, { delivered: 6 });
    expect(feed.arrived().at(-1)).toEqual(JSON.parse(letter.event));
  }),
);
const poisons = new Map<AwsKind, string>();

test('a wrong secret fails until it is mended, and then what waited arrives at once', () =>
  each(async (kind) => {
    const feed = await lab.feed(kind, { secret: 'wrong' });
    const made = await feed.make(2);
    await expectFailure(feed, { ...failing('InvalidSignatureException'), waiting: 2 });
    await feed.mend();
    await expectWell(feed, { delivered: 2 });
    made.push(...(await feed.make(1)));
    await expectWell(feed, { delivered: 3 });
    expectInOrder(feed, made);
  }));

test('a stream that is not there fails until it is', async () => {
  lab.aws.missing.add('events');
  const feeds = await Promise.all(
    awsKinds.map(async (kind) => {
      const feed = await lab.feed(kind);
      const made = await feed.make(1);
      await expectFailure(feed, { ...failing('ResourceNotFoundException'), waiting: 1 });
      return { feed, made };
    }),
  );
  lab.aws.missing.delete('events');
  await Promise.all(
    feeds.map(async ({ feed, made }) => {
      await feed.due();
      made.push(...(await feed.make(1)));
      await expectWell(feed, { delivered: 2, lastError: 'ResourceNotFoundException' });
      expectInOrder(feed, made);
    }),
  );
});

let roles = 0;
const newRole = () => `arn:aws:iam::${ACCOUNT}:role/events-${++roles}`;
const byRole = async (kind: AwsKind): Promise<[Feed, string]> => {
  const roleArn = newRole();
  return [await lab.feed(kind, { roleArn }), roleArn];
};

test('a role can be assumed from the moment that it trusts the gateway', () =>
  each(async (kind) => {
    const [feed, roleArn] = await byRole(kind);
    const made = await feed.make(1);
    await expectFailure(feed, { ...failing('AccessDenied'), waiting: 1 });
    lab.aws.trust(roleArn, feed.account.accountId);
    await feed.due();
    made.push(...(await feed.make(1)));
    await expectWell(feed, { delivered: 2, lastError: 'AccessDenied' });
    expectInOrder(feed, made);
  }));

test('a session of a role that is over is replaced by itself', async () => {
  const feeds = await Promise.all(
    awsKinds.map(async (kind) => {
      const [feed, roleArn] = await byRole(kind);
      lab.aws.trust(roleArn, feed.account.accountId);
      const made = await feed.make(1);
      await expectWell(feed, { delivered: 1 });
      return { feed, made };
    }),
  );
  lab.aws.expireSessions();
  await Promise.all(
    feeds.map(async ({ feed, made }) => {
      made.push(...(await feed.make(1)));
      await feed.until(({ last_error }) => last_error?.code === 'ExpiredTokenException');
      await feed.due();
      made.push(...(await feed.make(1)));
      await expectWell(feed, { delivered: 3, lastError: 'ExpiredTokenException' });
      expectInOrder(feed, made);
      expect(await feed.trial()).toMatchObject({ ok: true });
    }),
  );
});

test.each<[name: string, fault: Fault, expected: { state: string; code: string }]>([
  ['503', { status: 503 }, retrying('HTTP 503')],
  ['throttling', { status: 400, code: 'Throttling' }, retrying('Throttling')],
  ['a reset', 'reset', retrying('ECONNRESET')],
  ['that the session of the gateway is over', { status: 403, code: 'ExpiredToken' }, failing('ExpiredToken')],
])('STS answers with %s', async (_, fault, expected) => {
  lab.aws.script('sts', always(fault));
  const [feed, roleArn] = await byRole('firehose');
  lab.aws.trust(roleArn, feed.account.accountId);
  const made = await feed.make(1);
  await expectFailure(feed, { ...expected, waiting: 1 });
  lab.aws.script('sts', []);
  await feed.due();
  made.push(...(await feed.make(1)));
  await expectWell(feed, { delivered: 2, lastError: expected.code });
  expectInOrder(feed, made);
});
