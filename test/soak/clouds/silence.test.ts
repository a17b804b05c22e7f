// Clouds that take a request and say nothing: each ends in time, and everything arrives when they speak again.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure, expectInOrder, expectWell } from '../../events/clouds/support.ts';
import { ACCOUNT } from '../../support/events/aws-sinks.ts';
import {
  awsKinds,
  type CloudLab,
  type Feed,
  httpKinds,
  openCloudLab,
  serviceOf,
} from '../../support/events/clouds-lab.ts';

/** How long a request may take here; milliseconds. */
const REQUEST_MS = 400;

let lab: CloudLab;
beforeAll(async () => {
  lab = await openCloudLab({}, { eventRequestMs: REQUEST_MS });
});
afterAll(() => lab.close());

const kinds = [...awsKinds, ...httpKinds];

/** From now on, all that clouds are asked is answered so; with nothing to say: as usual. */
function script(fault?: 'blackHole' | 'stall'): void {
  for (const service of [...awsKinds.map(serviceOf), 'sts'] as const)
    lab.aws.script(service, fault ? Array(100).fill(fault) : []);
  const plain = fault === 'stall' ? 'blackHole' : fault;
  for (const service of ['datadog', 'azure', 'login'] as const)
    lab.http.script(service, plain ? Array(100).fill(plain) : []);
}

async function feeds(): Promise<Feed[]> {
  const roleArn = `arn:aws:iam::${ACCOUNT}:role/silence-${Math.random()}`;
  const byRole = await lab.feed('firehose', { roleArn });
  lab.aws.trust(roleArn, byRole.account.accountId);
  return [byRole, ...(await Promise.all(kinds.map((kind) => lab.feed(kind))))];
}

test.each([
  ['from the start', false, 'blackHole'],
  ['after it was well', true, 'blackHole'],
  ['in the middle of an answer', true, 'stall'],
] as const)('a cloud that falls silent %s', { timeout: 60_000 }, async (_, wasWell, fault) => {
  const all = await feeds();
  const made = new Map<Feed, string[]>();
  const make = async (feed: Feed, count: number) =>
    made.set(feed, [...(made.get(feed) ?? []), ...(await feed.make(count))]);
  const before = wasWell ? 1 : 0;
  await Promise.all(
    all.map(async (feed) => {
      if (!wasWell) return;
      await make(feed, 1);
      await expectWell(feed, { delivered: 1 });
    }),
  );
  script(fault);
  await Promise.all(
    all.map(async (feed) => {
      await make(feed, 2);
      await expectFailure(feed, { state: 'retrying', code: 'Timeout', waiting: 2, delivered: before });
      expect((await feed.look()).last_error.message).toBe('no answer within 0.4 s');
    }),
  );
  script();
  await Promise.all(
    all.map(async (feed) => {
      await feed.due();
      await make(feed, 1);
      await expectWell(feed, { delivered: before + 3 });
      expectInOrder(feed, made.get(feed) ?? []);
    }),
  );
});
