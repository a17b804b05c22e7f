// Canaries: what the gateway knows to reach clouds is in nothing that tenants see, and in no log, event or metric.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT } from '../../support/events/aws-sinks.ts';
import { type CloudLab, type Feed, httpKinds, openCloudLab } from '../../support/events/clouds-lab.ts';
import { right } from '../../support/events/http-cloud.ts';
import { expectWell } from './support.ts';

let lab: CloudLab;
beforeAll(async () => {
  lab = await openCloudLab();
});
afterAll(() => lab.close());

const WRONG = 'canary-wrong-secret-0123456789';

test('nothing of secrets, and of where the operator has sent requests, is told to anybody', {
  timeout: 60_000,
}, async () => {
  const { aws, http, gateway } = lab;
  const places = [`:${aws.port}`, `:${http.port}`, 'ECONNREFUSED 1', 'Canonical'];
  const roleArn = `arn:aws:iam::${ACCOUNT}:role/canaries`;
  const wrong = await Promise.all(
    (['firehose', 'datadog', 'azure_logs_ingestion'] as const).map((kind) => lab.feed(kind, { secret: WRONG })),
  );
  const byRole = await lab.feed('kinesis', { roleArn });
  aws.trust(roleArn, byRole.account.accountId);
  const feeds: Feed[] = [...(await Promise.all(httpKinds.map((kind) => lab.feed(kind)))), byRole];
  await Promise.all(
    feeds.map(async (feed) => {
      await feed.make(1);
      await expectWell(feed, { delivered: 1 });
    }),
  );
  await Promise.all(wrong.map((feed) => feed.make(1)));
  await Promise.all(wrong.map((feed) => feed.until(({ last_error }) => last_error !== null)));
  // As AWS explains a signature that it finds wrong: with the whole request.
  const token = String(aws.requests.find(({ service }) => service === 'kinesis')?.headers['x-amz-security-token']);
  const message =
    'The request signature we calculated does not match.\n\nThe Canonical String for this request should have been\n' +
    `'POST\n/\n\nhost:localhost:${aws.port}\nx-amz-security-token:${token}\n`;
  aws.script('kinesis', Array(50).fill({ status: 400, code: 'InvalidSignatureException', message }));
  for (const service of ['datadog', 'azure'] as const)
    http.script(service, Array(50).fill({ status: 400, body: `<html>${http.url} has not understood</html>` }));
  await Promise.all(feeds.map((feed) => feed.make(1)));
  await byRole.until(({ last_error }) => last_error?.code === 'InvalidSignatureException');
  await Promise.all(feeds.slice(0, 2).map((feed) => feed.until(({ dead_letters }) => dead_letters > 0)));
  for (const feed of [...wrong, ...feeds]) {
    await feed.trial();
    await feed.account.call('GET', `${feed.path}/dead_letters`);
    await feed.account.call('GET', feed.path);
    await feed.account.call('PATCH', feed.path, { description: 'changed' });
  }
  await lab.closeClouds();
  await Promise.all(
    feeds.map(async (feed) => {
      await feed.due();
      await feed.make(1);
      await feed.until(({ last_error }) => last_error?.code === 'ECONNREFUSED');
      await feed.trial();
    }),
  );

  const metrics = await (await fetch(`${gateway.admin}/metrics`)).text();
  expect(metrics).toContain('event_requests_total');
  const bearer = http.requests.flatMap(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? []);
  const secrets = [
    ...[WRONG, right.apiKey, right.clientSecret, aws.customer.secretAccessKey, token, ...new Set(bearer)],
    ...[aws.operator.accessKeyId, aws.operator.secretAccessKey],
    ...aws.requests.flatMap(({ headers }) => headers['x-amz-security-token'] ?? []).map(String),
  ];
  const events = [...aws.records('kinesis'), ...http.taken.flatMap(({ json }) => JSON.stringify(json) ?? [])];
  expect([lab.answers.length > 30, gateway.logs.length > 30, events.length > 2, secrets.length > 8]).not.toContain(
    false,
  );
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(8);
    expectNowhere(secret, [...lab.answers, ...gateway.logs, metrics, ...events]);
  }
  for (const text of places) expectNowhere(text, [...lab.answers, ...gateway.logs]);
});

function expectNowhere(text: string, written: string[]): void {
  expect(written.filter((line) => line.includes(text))).toEqual([]);
}
