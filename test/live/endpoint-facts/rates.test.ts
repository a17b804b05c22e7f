// How fast an endpoint’s counts grow: over about ten seconds, whenever somebody asks.

import { beforeEach, describe, expect, test } from 'vitest';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { EndpointRegistry } from '../../../src/tunnel/endpoints/endpoint-registry.ts';
import { TrafficMeter } from '../../../src/tunnel/endpoints/traffic-meter.ts';

const ID = 'ep_1';

let now: number;
let meter: TrafficMeter;
let endpoints: EndpointRegistry;
beforeEach(() => {
  now = 5_000_000;
  meter = new TrafficMeter();
  endpoints = new EndpointRegistry(() => now);
  endpoints.add(endpointWith(meter));
  endpoints.sample();
});

function endpointWith(itsMeter: TrafficMeter | undefined): LiveEndpoint {
  return {
    id: ID,
    tunnelId: 'tn_1',
    accountId: 'ac_1',
    proto: 'http',
    hostname: 'app.test',
    port: 80,
    publicUrl: 'http://app.test',
    proxyProtocol: 0,
    upstreamProtocol: 'http1',
    tls: 'gateway',
    meter: itsMeter,
    isOpen: true,
    open: async () => 'offline',
  };
}

/** So much each second; the node looks as often. */
function pass(seconds: number, each: { requests?: number; bytesIn?: number; bytesOut?: number }): void {
  for (let i = 0; i < seconds; i++) {
    meter.requests += each.requests ?? 0;
    meter.fromSocket += each.bytesIn ?? 0;
    meter.toSocket += each.bytesOut ?? 0;
    now += 1000;
    endpoints.sample();
  }
}

const rates = () => {
  const { requestsPerSecond, bytesInPerSecond, bytesOutPerSecond } = endpoints.trafficOf(ID) ?? {};
  return [requestsPerSecond, bytesInPerSecond, bytesOutPerSecond];
};
const rate = () => endpoints.trafficOf(ID)?.requestsPerSecond ?? Number.NaN;

describe('a rate', () => {
  test('is nothing where nothing passes', () => {
    expect(rates()).toEqual([0, 0, 0]);
    pass(100, {});
    expect(rates()).toEqual([0, 0, 0]);
  });

  test('becomes what passes, when that goes on', () => {
    pass(100, { requests: 40, bytesIn: 1000, bytesOut: 2_000_000 });
    const [requests = 0, bytesIn = 0, bytesOut = 0] = rates();
    expect(requests).toBeCloseTo(40, 1);
    expect(bytesIn).toBeCloseTo(1000, -1);
    expect(bytesOut / 2_000_000).toBeCloseTo(1, 3);
  });

  test('is two thirds of it after ten seconds, and a third ten seconds after it has ended', () => {
    pass(10, { requests: 100 });
    expect(rate()).toBeCloseTo(100 * (1 - Math.exp(-1)), 6);
    pass(200, { requests: 100 });
    pass(10, {});
    expect(rate()).toBeCloseTo(100 * Math.exp(-1), 2);
    pass(90, {});
    expect(rate()).toBeLessThan(0.01);
  });

  test('is the same however often it is asked for', () => {
    pass(20, { requests: 10 });
    const other = new TrafficMeter();
    other.sampleRates(now - 20_000);
    other.requests = 200;
    expect(rate()).toBeCloseTo(other.sampleRates(now).requestsPerSecond, 6);
    for (let i = 0; i < 100; i++) expect(rate()).toBe(rate());
  });

  test('is of now also between two looks of the node', () => {
    pass(100, { requests: 10 });
    now += 500;
    expect(rate()).toBeCloseTo(10 * Math.exp(-0.05), 2);
    meter.requests += 5;
    now += 0.5;
    expect(rate()).toBeCloseTo(10 * Math.exp(-0.05) + 0.5, 1);
  });
});

test('what is not there, or has no meter, has no traffic', () => {
  expect(endpoints.trafficOf('ep_2')).toBeUndefined();
  endpoints.add({ ...endpointWith(undefined), id: 'ep_3' });
  endpoints.sample();
  expect(endpoints.trafficOf('ep_3')).toBeUndefined();
});

test('of a tunnel that was resumed the newer one counts, also once the older one has gone', () => {
  const [older, newer] = [endpointWith(new TrafficMeter()), endpointWith(new TrafficMeter())];
  endpoints = new EndpointRegistry(() => now);
  endpoints.add(older);
  endpoints.add(newer);
  newer.meter?.begin();
  expect(endpoints.trafficOf(ID)).toMatchObject({ requests: 1, openConnections: 1 });
  endpoints.remove(older);
  expect(endpoints.trafficOf(ID)).toMatchObject({ requests: 1, openConnections: 1, accountId: 'ac_1' });
  endpoints.remove(newer);
  expect(endpoints.trafficOf(ID)).toBeUndefined();
});
