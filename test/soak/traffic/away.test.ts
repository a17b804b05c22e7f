// The database goes away while visitors come: they notice nothing, and what does not fit in memory is dropped and counted.

import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { done, newName } from '../../live/edges/support.ts';
import {
  HEARD_HERE,
  metricOf,
  REQUESTS,
  type Receiver,
  startReceiver,
  startTrafficUpstream,
  type TrafficUpstream,
} from '../../live/traffic-events/lab.ts';
import { newCredential } from '../../support/agents/live.ts';
import { httpName, sdkSession } from '../../support/agents/sdk.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { visit } from '../../support/visit.ts';

const RECOVERY = { timeout: 20_000, interval: 50 };
const VISITS = 200;
/** Events of so many characters, most of which cannot be compressed: those of all visits do not fit into 1 MB. */
const HEADER_BYTES = 12_000;

describe.runIf(onServer)('while the PostgreSQL server cannot be reached', () => {
  let place: Place;
  let proxy: FaultProxy;
  let gateway: TestGateway;
  let receiver: Receiver;
  let upstream: TrafficUpstream;
  beforeAll(async () => {
    place = await newPlace();
    const url = new URL(place.env.DATABASE_URL ?? '');
    proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    const env = { ...HEARD_HERE, DATABASE_URL: url.href, EVENT_BUFFER_MB: '1' };
    gateway = await startTestGateway(env, { place });
    [receiver, upstream] = [await startReceiver(), await startTrafficUpstream()];
  });
  afterAll(async () => {
    await gateway.close();
    for (const each of [receiver, upstream]) each.close();
    await proxy.close();
    await place.remove();
  });

  test('visitors are answered as fast as ever; what there was no room for is counted, the rest is delivered', {
    timeout: 60_000,
  }, async () => {
    const ear = await receiver.hear(gateway, [{ type: REQUESTS, fields: ['http.request'] }]);
    const session = await sdkSession(gateway, (await newCredential(gateway)).authtoken);
    const name = newName('away');
    await httpName(session, name).listenAndForward(upstream.url);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    /** @returns the median time; milliseconds. */
    const come = async (from: number): Promise<number> => {
      const times: number[] = [];
      for (let n = from; n < from + VISITS; n++) {
        const headers = { 'x-random': randomBytes((HEADER_BYTES * 3) / 4).toString('base64') };
        const began = performance.now();
        expect((await visit(`http://${name}/${n}`, gateway.http, { agent, headers })).status).toBe(200);
        times.push(performance.now() - began);
      }
      return times.toSorted((a, b) => a - b)[VISITS / 2] as number;
    };

    const before = await come(0);
    const stored = () => metricOf(gateway, 'traffic_events_waiting');
    const path = `/event_destinations/${ear.destinationId}/delivery`;
    // What is settled is not sent again.
    await eventually(
      async () => expect(await done(gateway, 'GET', path)).toMatchObject({ delivered_events: VISITS }),
      RECOVERY,
    );
    proxy.refuse();
    await proxy.cut();
    const away = await come(VISITS);
    expect(away).toBeLessThan(3 * before + 20);
    const waiting = await metricOf(gateway, 'traffic_event_bytes_waiting');
    expect(waiting).toBeGreaterThan(2 ** 19);
    expect(waiting).toBeLessThanOrEqual(2 ** 20);
    expect(await metricOf(gateway, 'events_dropped_total{reason="buffer_full"}')).toBeGreaterThan(0);
    await proxy.heal();
    await eventually(async () => expect(await stored()).toBe(0), RECOVERY);
    await visit(`http://${name}/last`, gateway.http);
    await ear.about('/last');

    const dropped = await metricOf(gateway, 'events_dropped_total{reason="buffer_full"}');
    const told = { dropped_events: dropped, waiting_events: 0, dead_letters: 0 };
    await eventually(async () => expect(await done(gateway, 'GET', path)).toMatchObject(told), RECOVERY);
    const paths = ear.events.map(({ object }) => object.http.request.url.path);
    expect(paths).toHaveLength(2 * VISITS + 1 - dropped);
    expect(new Set(paths).size).toBe(paths.length);
    const numbers = paths.slice(0, -1).map((path) => Number(path.slice(1)));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    const lines = gateway.logs.filter((line) => line.includes('events cannot be stored'));
    expect(lines).toHaveLength(1);
  });
});
