// The Kinesis sink and a server of that protocol which this project did not write: kinesalite.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { kinesisSink } from '../../../src/events/sinks/aws/kinesis.ts';
import { type Outbound, openOutbound } from '../../../src/events/sinks/http/outbound.ts';
import type { Sink } from '../../../src/events/sinks/sink.ts';
import { byKeys, newEvent, newEvents, patience, settingsFor, streamArn } from '../../support/events/aws-sinks.ts';
import { type Kinesis, startKinesis } from '../../support/events/kinesis.ts';

// Whatever is well-formed is good for kinesalite.
const auth = byKeys({ accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' });
let kinesis: Kinesis;
let outbound: Outbound;
let open: (arn?: string) => Promise<Sink>;
beforeAll(async () => {
  kinesis = await startKinesis();
  const endpoint = kinesis.env.EVENT_ENDPOINTS.replace('kinesis=', '');
  const settings = settingsFor({ eventEndpoints: { kinesis: endpoint } });
  outbound = openOutbound(settings);
  const parts = { settings, outbound, destinationId: 'ed_1', accountId: 'ac_1', now: Date.now };
  open = (arn = streamArn) => kinesisSink({ auth, streamArn: arn }, parts);
});
afterAll(async () => {
  outbound.close();
  await kinesis.close();
});

test('full requests arrive whole and in order', async () => {
  const sink = await open();
  const sent = [...newEvents(1000), newEvent({ object: { text: 'Grüße, 世界 🌍' } })];
  for (let from = 0; from < sent.length; from += sink.limits.records) {
    expect(await sink.put(sent.slice(from, from + sink.limits.records), patience)).toEqual([]);
  }
  expect(await kinesis.records()).toEqual(sent.map(({ text }) => text));
});

test('a request that the server rejects as a whole is to be split', async () => {
  const sink = await open();
  await expect(sink.put(newEvents(501), patience)).rejects.toMatchObject({
    kind: 'split',
    code: 'ValidationException',
  });
  const long = newEvent({ object: { text: 'x'.repeat(2 ** 20) } });
  await expect(sink.put([long], patience)).rejects.toMatchObject({ kind: 'split', code: 'ValidationException' });
  const half = newEvent({ object: { text: 'x'.repeat(900_000) } });
  await expect(sink.put(Array(7).fill(half), patience)).rejects.toMatchObject({ kind: 'split', code: 'HTTP 413' });
});

test('a missing stream is a configuration failure', async () => {
  const sink = await open(streamArn.replace(/events$/, 'gone'));
  const failure = { kind: 'config', code: 'ResourceNotFoundException' };
  await expect(sink.put([newEvent()], patience)).rejects.toMatchObject(failure);
});
