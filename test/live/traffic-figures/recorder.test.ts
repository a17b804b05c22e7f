// What counts the figures of one process: how many it counts at most, what waits while the database is away, and what Prometheus sees.

import { Registry } from 'prom-client';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { TrafficRecorder, type TrafficRecorderOptions } from '../../../src/edge/metrics/traffic-recorder.ts';
import type { TrafficBucket } from '../../../src/edge/metrics/traffic-stats-store.ts';
import { recorderMetrics } from '../../../src/monitoring/figure-metrics.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { TrafficMeter } from '../../../src/tunnel/endpoints/traffic-meter.ts';

let now: number;
let stored: TrafficBucket[];
let isAway: boolean;
let failures: unknown[];
beforeEach(() => {
  now = 1_800_000_001_000;
  stored = [];
  isAway = false;
  failures = [];
});

function startRecorder(more: Partial<TrafficRecorderOptions> = {}): TrafficRecorder {
  const append = async (bucket: TrafficBucket) => {
    if (isAway) throw new Error('away');
    stored.push(bucket);
    return true;
  };
  const onFailure = (error: unknown) => failures.push(error);
  const recorder = new TrafficRecorder({
    ...{ store: { append }, writer: 'node_a', now: () => now, onFailure, busiestMax: 0 },
    ...more,
  });
  recorder.start();
  onTestFinished(() => recorder.close());
  return recorder;
}

function endpoint(id: string): LiveEndpoint {
  return {
    ...{ id, tunnelId: 'tn_1', accountId: 'ac_1', proto: 'http', hostname: `${id}.test`, port: 80 },
    ...{ publicUrl: `http://${id}.test`, proxyProtocol: 0, upstreamProtocol: 'http1', tls: 'gateway' },
    ...{ isOpen: true, open: async () => 'offline' as const },
  } as LiveEndpoint;
}

/** So many requests of an endpoint that are answered. */
function answer(
  recorder: TrafficRecorder,
  id: string,
  count: number,
  status = 200,
  meter = new TrafficMeter(),
): TrafficMeter {
  for (let i = 0; i < count; i++) {
    meter.begin();
    if (!meter.recording) recorder.recordEndpoint(meter, endpoint(id));
    meter.recording?.answered(status, 1);
    meter.recording?.finished(2);
    meter.fromSocket += 100;
    meter.end();
  }
  return meter;
}

const subjects = (bucket: TrafficBucket | undefined) => bucket?.deltas.map(({ subjectId }) => subjectId).sort();

test('endpoints beyond the limit are not recorded, and their visits are counted together', async () => {
  const recorder = startRecorder({ metersMax: 2 });
  for (const id of ['ep_1', 'ep_2', 'ep_3', 'ep_3', 'ep_4']) answer(recorder, id, 1);
  expect([recorder.size, recorder.counters.unrecorded]).toEqual([2, 3]);
  now += 10_000;
  await expect.poll(() => stored).toHaveLength(1);
  expect(subjects(stored[0])).toEqual(['ac_1', 'ep_1', 'ep_2']);
  // Whoever is not visited any more makes room.
  now += 10_000;
  await expect.poll(() => recorder.size).toBe(0);
  answer(recorder, 'ep_3', 1);
  expect(recorder.counters.unrecorded).toBe(3);
});

test('the sessions of an endpoint count as one', async () => {
  const recorder = startRecorder();
  answer(recorder, 'ep_1', 3);
  answer(recorder, 'ep_1', 2, 502);
  await recorder.close();
  expect(stored[0]?.deltas.find(({ subjectId }) => subjectId === 'ep_1')).toMatchObject({
    responses: [0, 0, 3, 0, 0, 2],
    failures: 2,
    bytesIn: 500,
    durationMs: 10,
  });
});

test('what cannot be stored waits, in its order and in the time in which it was counted', async () => {
  const recorder = startRecorder();
  isAway = true;
  answer(recorder, 'ep_1', 1);
  now += 10_000;
  await expect.poll(() => failures).toHaveLength(1);
  answer(recorder, 'ep_1', 2);
  now += 10_000;
  await expect.poll(() => recorder.size).toBe(1);
  isAway = false;
  now += 10_000;
  await expect.poll(() => stored.length).toBeGreaterThanOrEqual(2);
  expect(stored.map(({ at }) => at)).toEqual([1_800_000_000_000, 1_800_000_010_000]);
  expect([failures.length, recorder.counters.lost]).toEqual([1, 0]);
});

test('Prometheus sees the busiest endpoints one by one, and all others as one', async () => {
  const recorder = startRecorder({ busiestMax: 2 });
  answer(recorder, 'ep_1', 1);
  answer(recorder, 'ep_2', 3, 500);
  answer(recorder, 'ep_3', 2);
  await recorder.close();
  expect(recorder.busiest.rows().map(([name, { responses }]) => [name, responses])).toEqual([
    ['http://ep_2.test', [0, 0, 0, 0, 0, 3]],
    ['http://ep_3.test', [0, 0, 2, 0, 0, 0]],
    ['other', [0, 0, 1, 0, 0, 0]],
  ]);
  const registry = new Registry();
  recorderMetrics(registry, recorder);
  const shown = (await registry.metrics()).split('\n');
  const histogram = (name: string) => shown.filter((line) => line.startsWith(`${name}_`) && line.includes('ep_2'));
  const endpointLabel = 'endpoint="http://ep_2.test"';
  const [first, ...rest] = histogram('gateway_endpoint_duration_seconds');
  expect(first).toBe(`gateway_endpoint_duration_seconds_bucket{le="0.01",${endpointLabel}} 3`);
  expect(rest.at(-2)).toMatch(/_sum\{endpoint="http:\/\/ep_2.test"\} 0\.00[56]/);
  expect(rest.at(-1)).toBe(`gateway_endpoint_duration_seconds_count{${endpointLabel}} 3`);
  expect(histogram('gateway_endpoint_first_byte_seconds')).toHaveLength(13);
  expect(shown).toContain(`gateway_endpoint_open_connections{${endpointLabel}} 0`);
});
