// What Firehose, Kinesis and CloudWatch Logs are sent, and what is made of their answers.

import { Agent } from 'node:https';
import { type ConnectionOptions, connect } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readWritten } from '../../../src/events/event.ts';
import { cloudwatchLogsSink } from '../../../src/events/sinks/aws/cloudwatch-logs.ts';
import { firehoseSink } from '../../../src/events/sinks/aws/firehose.ts';
import { kinesisSink } from '../../../src/events/sinks/aws/kinesis.ts';
import type { SinkContext } from '../../../src/events/sinks/descriptor.ts';
import type { Sink } from '../../../src/events/sinks/sink.ts';
import type { WrittenEvent } from '../../../src/events/written-event.ts';
import type { AwsCloud } from '../../support/events/aws-cloud.ts';
import {
  byKeys,
  deliveryStreamArn,
  logGroupArn,
  newEvent,
  newEvents,
  openTestCloud,
  patience,
  settingsFor,
  streamArn,
  type TestCloud,
} from '../../support/events/aws-sinks.ts';

const DAY_MS = 86_400_000;
let opened: TestCloud;
let cloud: AwsCloud;
let parts: SinkContext;
beforeAll(async () => {
  const region = 'eu-west-1.amazonaws.com';
  opened = await openTestCloud([`*.${region}`, `*.data-kinesis.${region}`]);
  ({ cloud, parts } = opened);
});
afterAll(() => opened.close());
beforeEach(() => {
  cloud.requests.length = 0;
  for (const service of ['firehose', 'kinesis', 'logs'] as const) cloud.records(service).length = 0;
});

const firehose = (change = parts) => firehoseSink({ auth: byKeys(cloud.customer), deliveryStreamArn }, change);
const kinesis = (change = parts) => kinesisSink({ auth: byKeys(cloud.customer), streamArn }, change);
const logs = (change = parts, arn = logGroupArn) =>
  cloudwatchLogsSink({ auth: byKeys(cloud.customer), logGroupArn: arn }, change);
const texts = (events: readonly { text: string }[]) => events.map(({ text }) => text);

/** An event that a sink counts as so many bytes. */
function eventOf(sink: Sink, bytes: number): WrittenEvent {
  const { id, at } = newEvent();
  const head = `{"event_id":"${id}","event_type":"t","event_timestamp":"${new Date(at).toISOString().slice(0, 10)}"`;
  return readWritten(head + 'x'.repeat(bytes - sink.sizeOf(readWritten(head))));
}

/** As many as a request takes, none of them larger than it has to be. */
function fullRequest(sink: Sink, count: number): WrittenEvent[] {
  const bytes = Math.floor(sink.limits.bytes / count);
  return Array.from({ length: count }, () => eventOf(sink, bytes));
}

test('Firehose gets each event as a line', async () => {
  const events = [newEvent(), newEvent({ object: { name: 'Grüße, 世界' } })];
  expect(await (await firehose()).put(events, patience)).toEqual([]);
  expect(cloud.records('firehose')).toEqual(texts(events).map((text) => `${text}\n`));
  expect(cloud.requests).toMatchObject([
    { operation: 'PutRecordBatch', region: 'eu-west-1', body: { DeliveryStreamName: 'events' } },
  ]);
});

test('the region is that of the ARN, whatever the environment says, and so is the host', async () => {
  const names = ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_ENDPOINT_URL', 'AWS_USE_FIPS_ENDPOINT'];
  const before = names.map((name) => process.env[name]);
  Object.assign(process.env, { AWS_REGION: 'us-west-2', AWS_DEFAULT_REGION: 'us-west-2' });
  Object.assign(process.env, { AWS_ENDPOINT_URL: 'https://127.0.0.1:1', AWS_USE_FIPS_ENDPOINT: 'true' });
  // All connections lead to the cloud here, which has to show a certificate for the name that was asked for.
  const https = new Agent({ ca: opened.ca.cert });
  https.createConnection = (options) =>
    connect({ ...(options as ConnectionOptions), host: '127.0.0.1', port: cloud.port });
  const anywhere = { ...parts, outbound: { ...parts.outbound, https }, settings: settingsFor() };
  try {
    for (const sink of [firehose, kinesis, logs]) await (await sink(anywhere)).put([newEvent()], patience);
  } finally {
    names.forEach((name, i) => {
      if (before[i] === undefined) delete process.env[name];
      else process.env[name] = before[i];
    });
  }
  expect(cloud.requests.map(({ service, region, headers }) => [service, region, headers.host])).toEqual([
    ['firehose', 'eu-west-1', 'firehose.eu-west-1.amazonaws.com'],
    ['kinesis', 'eu-west-1', '123456789012.data-kinesis.eu-west-1.amazonaws.com'],
    ['logs', 'eu-west-1', 'logs.eu-west-1.amazonaws.com'],
    ['logs', 'eu-west-1', 'logs.eu-west-1.amazonaws.com'],
  ]);
});

test('Kinesis is called over HTTP/1.1 on one connection that is kept alive', async () => {
  const sink = await kinesis();
  await sink.put([newEvent()], patience);
  await sink.put([newEvent()], patience);
  expect(cloud.requests.map(({ httpVersion }) => httpVersion)).toEqual(['1.1', '1.1']);
  expect(new Set(cloud.requests.map(({ port }) => port)).size).toBe(1);
  expect(cloud.requests[0]?.body).toMatchObject({ StreamName: 'events', StreamARN: streamArn });
});

test('changes of one object go to Kinesis under its id, all else under the id of the event', async () => {
  const events = [
    newEvent({ type: 'https_edge_created.v0', object: { id: 'edghts_1', name: 'a' } }),
    newEvent({ type: 'https_edge_updated.v0', object: { name: 'b', id: 'edghts_1' } }),
    newEvent({ type: 'http_request_complete.v0', object: { id: 'req_1' } }),
    newEvent({ type: 'endpoint_online.v0', object: { name: 'no id' } }),
    newEvent({ type: 'https_edge_deleted.v0', object: { id: 'x'.repeat(257) } }),
  ];
  await (await kinesis()).put(events, patience);
  const keys = cloud.requests[0]?.body.Records?.map(({ PartitionKey }) => PartitionKey);
  expect(keys).toEqual(['edghts_1', 'edghts_1', ...events.slice(2).map(({ id }) => id)]);
});

test.for([
  ['firehose', firehose],
  ['kinesis', kinesis],
] as const)('%s: of a request that succeeds in part, those that were not taken are told', async ([service, make]) => {
  const events = newEvents(4);
  cloud.script(service, [{ partial: [1, 3], code: 'ProvisionedThroughputExceededException' }]);
  const reason = { fate: 'retry', code: 'ProvisionedThroughputExceededException', message: 'Slow down.' };
  expect(await (await make()).put(events, patience)).toEqual([
    { index: 1, ...reason },
    { index: 3, ...reason },
  ]);
  expect(cloud.records(service).map((text) => text.trim())).toEqual([events[0]?.text, events[2]?.text]);
});

test.for([
  ['firehose', firehose, { FailedPutCount: 0 }],
  ['firehose', firehose, { FailedPutCount: 1, RequestResponses: [{ RecordId: 'a' }] }],
  ['kinesis', kinesis, {}],
  ['kinesis', kinesis, { Records: [] }],
  ['firehose', firehose, '<html>Welcome.</html>'],
] as const)('%s: an answer that does not tell of each record is no success (%#)', async ([service, make, answer]) => {
  cloud.script(service, [{ answer }]);
  await expect((await make()).put([newEvent()], patience)).rejects.toMatchObject({ kind: 'retry' });
});

describe('full requests are accepted', () => {
  test.for([
    ['firehose', 500, firehose],
    ['firehose', 5, firehose],
    ['kinesis', 500, kinesis],
    ['logs', 10_000, logs],
    ['logs', 1, logs],
  ] as const)('%s, %d', async ([service, count, make]) => {
    const sink = await make();
    const events = fullRequest(sink, count);
    expect(events.length).toBeLessThanOrEqual(sink.limits.records);
    expect(await sink.put(events, patience)).toEqual([]);
    expect(cloud.records(service).length).toBe(count);
  });

  test('the largest event is accepted', async () => {
    const sink = await firehose();
    expect(await sink.put([eventOf(sink, sink.limits.recordBytes)], patience)).toEqual([]);
  });
});

describe('CloudWatch Logs', () => {
  const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
  const operations = () => cloud.requests.map(({ operation }) => operation);

  test('each destination and day has a log stream, which is made once', async () => {
    const sink = await logs({ ...parts, destinationId: 'ed_days' });
    const [today, before] = [newEvent({ at: noon }), newEvent({ at: noon - DAY_MS })];
    expect(await sink.put([today, before], patience)).toEqual([]);
    expect(await sink.put([newEvent({ at: noon })], patience)).toEqual([]);
    expect(cloud.logStreams.get(`events:tunnel-gateway/ed_days/${dayOf(noon)}`)).toHaveLength(2);
    expect(cloud.logStreams.get(`events:tunnel-gateway/ed_days/${dayOf(noon - DAY_MS)}`)).toEqual([before.text]);
    const making = ['CreateLogStream', 'PutLogEvents'];
    expect(operations()).toEqual([...making, ...making, 'PutLogEvents']);
    const again = await logs({ ...parts, destinationId: 'ed_days' });
    expect(await again.put([newEvent({ at: noon })], patience), 'a stream that is there').toEqual([]);
  });

  test('events are sent in the order of time, the days of a long span apart', async () => {
    const sink = await logs({ ...parts, destinationId: 'ed_order' });
    const hours = [5, -20, 0, -44, 3].map((hour) => newEvent({ at: noon + hour * 3_600_000 }));
    expect(await sink.put(hours, patience)).toEqual([]);
    expect(cloud.records('logs')).toEqual(texts([...hours].sort((a, b) => a.at - b.at)));
  });

  test('events that are too old or too new are refused for good, by the place that they were given in', async () => {
    const sink = await logs({ ...parts, destinationId: 'ed_times' });
    const [old, now, late] = [newEvent({ at: noon - 20 * DAY_MS }), newEvent(), newEvent({ at: Date.now() + DAY_MS })];
    expect(await sink.put([late, now, old], patience)).toMatchObject([
      { index: 2, fate: 'refused', code: 'TooOldLogEvent' },
      { index: 0, fate: 'refused', code: 'TooNewLogEvent' },
    ]);
    expect(cloud.records('logs')).toEqual([now.text]);
    cloud.script('logs', [{ answer: { rejectedLogEventsInfo: { expiredLogEventEndIndex: 1 } } }]);
    const [first, second] = [newEvent({ at: late.at - 1 }), newEvent({ at: late.at })];
    expect(await sink.put([second, first], patience)).toMatchObject([
      { index: 1, fate: 'refused', code: 'ExpiredLogEvent' },
    ]);
  });

  test('a deleted log stream is created again', async () => {
    const sink = await logs({ ...parts, destinationId: 'ed_deleted' });
    await sink.put([newEvent({ at: noon })], patience);
    cloud.logStreams.clear();
    expect(await sink.put([newEvent({ at: noon })], patience)).toEqual([]);
    expect(operations().slice(2)).toEqual(['PutLogEvents', 'CreateLogStream', 'PutLogEvents']);
  });

  test('a missing log group is a configuration failure', async () => {
    cloud.missing.add('gone');
    const sink = await logs(parts, logGroupArn.replace('events', 'gone'));
    const failure = { kind: 'config', code: 'ResourceNotFoundException' };
    await expect(sink.put([newEvent()], patience)).rejects.toMatchObject(failure);
  });

  test('when a later day fails, accepted events of an earlier one are not sent again', async () => {
    const sink = await logs({ ...parts, destinationId: 'ed_half' });
    cloud.script('logs', ['pass', 'pass', 'pass', { status: 503, code: 'ServiceUnavailableException' }]);
    const events = [newEvent({ at: noon }), newEvent({ at: noon - DAY_MS }), newEvent({ at: noon })];
    expect(await sink.put(events, patience)).toMatchObject([
      { index: 0, fate: 'retry', code: 'ServiceUnavailableException' },
      { index: 2, fate: 'retry' },
    ]);
    expect(cloud.records('logs')).toEqual([events[1]?.text]);
  });
});
