// What becomes of requests to AWS that fail, and of those that nobody answers.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cloudwatchLogsSink } from '../../../src/events/sinks/aws/cloudwatch-logs.ts';
import { awsFailure } from '../../../src/events/sinks/aws/errors.ts';
import { firehoseSink } from '../../../src/events/sinks/aws/firehose.ts';
import { kinesisSink } from '../../../src/events/sinks/aws/kinesis.ts';
import type { SinkContext } from '../../../src/events/sinks/descriptor.ts';
import { openOutbound } from '../../../src/events/sinks/http/outbound.ts';
import { SinkError } from '../../../src/events/sinks/sink.ts';
import type { AwsCloud, Fault } from '../../support/events/aws-cloud.ts';
import {
  byKeys,
  deliveryStreamArn,
  logGroupArn,
  newEvent,
  openTestCloud,
  patience,
  settingsFor,
  streamArn,
  type TestCloud,
} from '../../support/events/aws-sinks.ts';

const SHORT = { timeoutMs: 50 };
let opened: TestCloud;
let cloud: AwsCloud;
let parts: SinkContext;
beforeAll(async () => {
  opened = await openTestCloud();
  ({ cloud, parts } = opened);
});
afterAll(() => opened.close());
beforeEach(() => {
  cloud.requests.length = 0;
  cloud.records('firehose').length = 0;
});
afterEach(() => {
  cloud.skew = 0;
});

const sinks = {
  firehose: (options = {}) => firehoseSink({ auth: byKeys(cloud.customer), deliveryStreamArn }, parts, options),
  kinesis: (options = {}) => kinesisSink({ auth: byKeys(cloud.customer), streamArn }, parts, options),
  logs: (options = {}) => cloudwatchLogsSink({ auth: byKeys(cloud.customer), logGroupArn }, parts, options),
};
const services = Object.keys(sinks) as (keyof typeof sinks)[];

describe.for(services)('%s', (service) => {
  test.for<[name: string, fault: Fault, failure: Partial<SinkError>]>([
    ['503', { status: 503 }, { kind: 'retry', code: 'HTTP 503' }],
    ['a wait', { status: 503, headers: { 'Retry-After': '7' } }, { kind: 'retry', retryAfter: 7000 }],
    ['throttling', { status: 400, code: 'ThrottlingException' }, { kind: 'retry', code: 'ThrottlingException' }],
    ['429', { status: 429 }, { kind: 'retry', code: 'HTTP 429' }],
    ['a reset', 'reset', { kind: 'retry', code: 'ECONNRESET' }],
    ['bad rights', { status: 400, code: 'AccessDeniedException' }, { kind: 'config', code: 'AccessDeniedException' }],
    ['403', { status: 403 }, { kind: 'config', code: 'HTTP 403' }],
    ['a redirect', { status: 301, headers: { Location: 'https://127.0.0.1:1' } }, { kind: 'config', code: 'HTTP 301' }],
    ['an answer of something else', { answer: '<html>' }, { kind: 'retry', code: 'HTTP 200' }],
  ])('%s', async ([, fault, failure]) => {
    cloud.script(service, service === 'logs' ? [fault, 'pass', fault] : [fault]);
    const sink = await sinks[service]();
    const put = sink.put([newEvent()], patience);
    await expect(put).rejects.toBeInstanceOf(SinkError);
    await expect(put).rejects.toMatchObject(failure);
    expect(cloud.requests.length, 'requests, so that nothing was tried again').toBe(1);
    cloud.script(service, []);
    expect(await sink.put([newEvent()], patience), 'the next one').toEqual([]);
  });

  test('a request that is too large or invalid is to be split', async () => {
    const sink = await sinks[service]();
    await sink.put([newEvent()], patience);
    for (const fault of [{ status: 413 }, { status: 400, code: 'ValidationException' }, { status: 400 }]) {
      cloud.script(service, [fault]);
      await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({ kind: 'split' });
    }
  });

  test('a request that is never answered ends with the timeout', async () => {
    cloud.script(service, ['blackHole']);
    const put = (await sinks[service](SHORT)).put([newEvent()], patience);
    await expect(put).rejects.toMatchObject({
      kind: 'retry',
      code: 'ETIMEDOUT',
      message: 'there was no answer in time',
    });
  });

  test('a request ends with its signal, whatever it waits for', async () => {
    for (const fault of ['blackHole', 'stall'] as const) {
      cloud.script(service, [fault]);
      const giveUp = new AbortController();
      const arrived = cloud.arrives();
      const put = (await sinks[service]()).put([newEvent()], giveUp.signal);
      await Promise.all([arrived.then(() => giveUp.abort()), expect(put).rejects.toMatchObject({ kind: 'retry' })]);
    }
  });

  test('a wrong secret is a configuration failure', async () => {
    const sink = { ...cloud.customer, secretAccessKey: 'wrong' };
    const auth = byKeys(sink);
    const made = {
      firehose: () => firehoseSink({ auth, deliveryStreamArn }, parts),
      kinesis: () => kinesisSink({ auth, streamArn }, parts),
      logs: () => cloudwatchLogsSink({ auth, logGroupArn }, parts),
    };
    const failure = { kind: 'config', code: 'InvalidSignatureException', message: expect.not.stringContaining('\n') };
    await expect((await made[service]()).put([newEvent()], patience)).rejects.toMatchObject(failure);
  });
});

test('a missing stream is a configuration failure', async () => {
  const sink = await sinks.firehose();
  cloud.missing.add('events');
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({
    kind: 'config',
    code: 'ResourceNotFoundException',
    message: 'events not found.',
  });
  cloud.missing.clear();
  expect(await sink.put([newEvent()], patience)).toEqual([]);
});

test('a clock that is an hour off costs one attempt', async () => {
  cloud.skew = 3_600_000;
  const sink = await sinks.firehose();
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({ kind: 'retry' });
  expect(await sink.put([newEvent()], patience)).toEqual([]);
});

test('closing one sink does not affect the requests of others', async () => {
  const [one, other] = [await sinks.firehose(), await sinks.firehose()];
  await one.put([newEvent()], patience);
  cloud.script('firehose', ['blackHole']);
  const giveUp = new AbortController();
  const arrived = cloud.arrives();
  const put = other.put([newEvent()], giveUp.signal).catch((error) => error);
  await arrived;
  one.close();
  cloud.script('firehose', []);
  expect(await (await sinks.firehose()).put([newEvent()], patience)).toEqual([]);
  giveUp.abort();
  expect(await put).toMatchObject({ code: 'AbortError' });
});

test.for([
  ['kinesis', streamArn.replace('arn:aws:', 'arn:aws-cn:'), 'the partition aws-cn has no region eu-west-1'],
  ['kinesis', streamArn.replace('eu-west-1', 'cn-north-1'), 'the partition aws has no region cn-north-1'],
  ['kinesis', streamArn.replace('eu-west-1', 'localhost'), 'the partition aws has no region localhost'],
  ['kinesis', deliveryStreamArn, "the destination's ARN is not one of kinesis"],
  ['firehose', deliveryStreamArn.replace('deliverystream/', ''), "the destination's ARN is not one of firehose"],
  ['logs', 'events', "the destination's ARN is not one of logs"],
] as const)('%s: nothing is sent for %s', async ([service, arn, message]) => {
  const auth = byKeys(cloud.customer);
  const open = {
    firehose: () => firehoseSink({ auth, deliveryStreamArn: arn }, parts),
    kinesis: () => kinesisSink({ auth, streamArn: arn }, parts),
    logs: () => cloudwatchLogsSink({ auth, logGroupArn: arn }, parts),
  };
  await expect(open[service]()).rejects.toMatchObject({ kind: 'config', code: 'InvalidArn', message });
  expect(cloud.requests).toEqual([]);
});

test('failures of the network are reported without addresses', async () => {
  const auth = byKeys(cloud.customer);
  const settings = settingsFor({ eventEndpoints: { firehose: 'https://127.0.0.1:1' } });
  const outbound = openOutbound(settings);
  const sink = await firehoseSink({ auth, deliveryStreamArn }, { ...parts, settings, outbound });
  const failure = { kind: 'retry', code: 'ECONNREFUSED', message: 'the connection failed' };
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject(failure);
  outbound.close();
});

test('a host of AWS that resolves to a private address is not connected to', async () => {
  const outbound = openOutbound({ ...settingsFor(), eventCaFile: parts.settings.eventCaFile });
  const sink = await firehoseSink({ auth: byKeys(cloud.customer), deliveryStreamArn }, { ...parts, outbound });
  const before = cloud.connections;
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject({ kind: 'config', code: 'FORBIDDEN_ADDRESS' });
  expect(cloud.connections).toBe(before);
  outbound.close();
});

test('errors that do not come from AWS are retried', () => {
  expect(awsFailure(new TypeError('what?'), 0)).toMatchObject({ kind: 'retry', code: 'TypeError', message: 'what?' });
});
