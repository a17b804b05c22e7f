// Destinations that say a role: the sessions that STS gives, and what becomes of them.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { firehoseSink } from '../../../src/events/sinks/aws/firehose.ts';
import { kinesisSink } from '../../../src/events/sinks/aws/kinesis.ts';
import type { SinkContext } from '../../../src/events/sinks/descriptor.ts';
import type { AwsCloud, Fault } from '../../support/events/aws-cloud.ts';
import {
  byRole,
  deliveryStreamArn,
  newEvent,
  openTestCloud,
  patience,
  ROLE_ARN,
  streamArn,
  type TestCloud,
} from '../../support/events/aws-sinks.ts';

const MINUTE_MS = 60_000;
let opened: TestCloud;
let cloud: AwsCloud;
let parts: SinkContext;
beforeAll(async () => {
  opened = await openTestCloud();
  ({ cloud, parts } = opened);
  cloud.trust(ROLE_ARN, parts.accountId);
});
afterAll(() => opened.close());
beforeEach(() => {
  cloud.requests.length = 0;
});

const open = (change: Partial<SinkContext> = {}, options = {}) =>
  firehoseSink({ auth: byRole, deliveryStreamArn }, { ...parts, ...change }, options);
const services = () => cloud.requests.map(({ service }) => service);

test('a role is assumed once, with the account as external id, in the region of the target', async () => {
  const sink = await open({ destinationId: `ed_${'x'.repeat(80)}` });
  expect(await sink.put([newEvent()], patience)).toEqual([]);
  expect(await sink.put([newEvent()], patience)).toEqual([]);
  expect(services()).toEqual(['sts', 'firehose', 'firehose']);
  expect(cloud.requests[0]).toMatchObject({
    region: 'eu-west-1',
    accessKeyId: cloud.operator.accessKeyId,
    body: {
      RoleArn: ROLE_ARN,
      ExternalId: 'ac_2xyz',
      DurationSeconds: '3600',
      RoleSessionName: `tgw-ed_${'x'.repeat(57)}`,
    },
  });
  expect(cloud.requests[1]?.headers['x-amz-security-token']).toBeTruthy();
});

test('a session is replaced before it ends', async () => {
  let now = Date.now();
  const sink = await open({ now: () => now });
  await sink.put([newEvent()], patience);
  now += 54 * MINUTE_MS;
  await sink.put([newEvent()], patience);
  now += 2 * MINUTE_MS;
  await sink.put([newEvent()], patience);
  expect(services()).toEqual(['sts', 'firehose', 'firehose', 'sts', 'firehose']);
});

test('a session that is over before its time is replaced by the next attempt', async () => {
  for (const sink of [await open(), await kinesisSink({ auth: byRole, streamArn }, parts)]) {
    await sink.put([newEvent()], patience);
    cloud.expireSessions();
    const failure = { kind: 'retry', code: 'ExpiredTokenException' };
    await expect(sink.put([newEvent()], patience)).rejects.toMatchObject(failure);
    expect(await sink.put([newEvent()], patience)).toEqual([]);
  }
  expect(services().filter((service) => service === 'sts').length).toBe(4);
});

test('the next attempt uses permissions that the role was given', async () => {
  const sink = await open();
  cloud.script('firehose', [{ status: 400, code: 'AccessDeniedException' }]);
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({ kind: 'config' });
  expect(await sink.put([newEvent()], patience)).toEqual([]);
  expect(services()).toEqual(['sts', 'firehose', 'sts', 'firehose']);
});

test('the role of another account cannot be assumed', async () => {
  const sink = await open({ accountId: 'ac_other' });
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({
    kind: 'config',
    code: 'AccessDenied',
    message: `User is not authorized to perform: sts:AssumeRole on resource: ${ROLE_ARN}`,
  });
  expect(services()).toEqual(['sts']);
});

test('a gateway without a configured identity does not search for one', async () => {
  const before = process.env.AWS_ACCESS_KEY_ID;
  process.env.AWS_ACCESS_KEY_ID = 'AKIAFROMTHEENVIRONMENT';
  const sink = await open({ settings: { ...parts.settings, awsIdentity: undefined } });
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({ kind: 'config', code: 'NoCredentials' });
  if (before === undefined) delete process.env.AWS_ACCESS_KEY_ID;
  else process.env.AWS_ACCESS_KEY_ID = before;
  expect(cloud.requests).toEqual([]);
});

test('an access key without its secret is not used', async () => {
  const auth = { role: null, creds: { awsAccessKeyId: 'AKIA', awsSecretAccessKey: null } };
  const sink = await firehoseSink({ auth, deliveryStreamArn }, parts);
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({ kind: 'config', code: 'NoCredentials' });
});

test.for<[name: string, fault: Fault, kind: string, code: string]>([
  ['503', { status: 503 }, 'retry', 'HTTP 503'],
  ['throttling', { status: 400, code: 'Throttling' }, 'retry', 'Throttling'],
  ['a reset', 'reset', 'retry', 'ECONNRESET'],
  ['a black hole', 'blackHole', 'retry', 'ETIMEDOUT'],
  ['the session of the gateway is over', { status: 403, code: 'ExpiredToken' }, 'config', 'ExpiredToken'],
  [
    'a region that is not in use',
    { status: 403, code: 'RegionDisabledException' },
    'config',
    'RegionDisabledException',
  ],
  // No event is to blame: none may become a dead letter for it.
  ['a role that STS does not understand', { status: 400, code: 'ValidationError' }, 'config', 'ValidationError'],
  ['no credentials in the answer', { answer: '<AssumeRoleResponse/>' }, 'retry', 'BadAnswer'],
])('of STS: %s', async ([, fault, kind, code]) => {
  cloud.script('sts', [fault]);
  const sink = await open({}, fault === 'blackHole' ? { timeoutMs: 50 } : {});
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({ kind, code });
});
