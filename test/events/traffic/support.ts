// Reports of traffic, and what turns them into events, over a store that is made of a list of sources.

import type { ConnectionReport, RequestReport } from '../../../src/edge/reports/traffic-reports.ts';
import { unpackEvents } from '../../../src/events/batch.ts';
import { EventBuffer, type EventBufferParts } from '../../../src/events/traffic/buffer.ts';
import { trafficCounters } from '../../../src/events/traffic/counters.ts';
import { trafficObjects } from '../../../src/events/traffic/gateway-objects.ts';
import type { TrafficSource, TrafficStore } from '../../../src/events/traffic/store.ts';
import { TrafficSubscribers } from '../../../src/events/traffic/subscribers.ts';
import { TrafficEvents } from '../../../src/events/traffic/traffic-events.ts';
import type { Schedule } from '../../../src/runtime/schedule.ts';

export const accountId = 'ac_3MPa0000000000000000000000A';
const connection = {
  clientIp: '203.0.113.7',
  serverIp: '10.0.0.5',
  serverPort: 443,
  serverName: 'shop.example.com',
  startedAt: Date.UTC(2026, 10, 21, 9, 0, 0, 7),
};

/** One to which every module had something to say. */
export function requestReport(more: Partial<RequestReport> = {}): RequestReport {
  return {
    accountId,
    endpointId: 'ep_3MPa0000000000000000000000A',
    connection,
    tls: {
      version: 'TLSv1.3',
      cipherSuite: 'TLS_AES_128_GCM_SHA256',
      clientCertificate: { serialNumber: '0A1B', commonName: 'till 3' },
    },
    isConnectionReused: true,
    request: {
      method: 'GET',
      version: 'HTTP/1.1',
      scheme: 'https',
      host: 'shop.example.com:8443',
      target: '/a/%62?page=2&q=%22',
      fields: [
        ['Host', 'shop.example.com:8443'],
        ['User-Agent', 'curl/8.5 "quoted"'],
        ['Accept', 'text/html'],
        ['accept', '*/*'],
        ['Authorization', 'Bearer hush'],
      ],
      bodyLength: 3,
      firstByteAt: Date.UTC(2026, 10, 21, 9, 0, 1, 0),
      lastByteAt: Date.UTC(2026, 10, 21, 9, 0, 1, 45),
    },
    response: {
      status: 503,
      fields: [
        ['Content-Type', 'text/plain'],
        ['Set-Cookie', 'a=hush'],
        ['Set-Cookie', 'b=hush'],
      ],
      bodyLength: 1234,
      firstByteAt: Date.UTC(2026, 10, 21, 9, 0, 2, 5),
      lastByteAt: Date.UTC(2026, 10, 21, 9, 0, 3, 999),
      isComplete: true,
    },
    decisions: {
      ip_policy: 'allow',
      basic_auth: { decision: 'deny', username: 'zoë\n' },
      circuit_breaker: 'allow_while_open',
      compression: { algorithm: 'gzip', bytesSaved: 99 },
      oauth: { decision: 'allow', clientId: 'shop', visitor: { subject: '17', name: 'Zoë' } },
      user_agent_filter: 'allow',
      webhook_verification: 'deny',
      policyLogs: [{ level: 'info', parts: [1, { x: true }] }],
    },
    ...more,
  };
}

/** One of plain HTTP that no module had anything to say to, and that got no answer. */
export function bareReport(more: Partial<RequestReport> = {}): RequestReport {
  return requestReport({ tls: undefined, response: undefined, decisions: {}, ...more });
}

export function connectionReport(more: Partial<ConnectionReport> = {}): ConnectionReport {
  return {
    accountId,
    endpointId: 'ep_3MPa0000000000000000000000A',
    connection: { ...connection, endedAt: connection.startedAt + 60_000, bytesIn: 10, bytesOut: 2 ** 40 },
    decisions: { ip_policy: 'allow', policyLogs: [] },
    ...more,
  };
}

export function source(more: Partial<TrafficSource> = {}): TrafficSource {
  return {
    subscriptionId: 'es_1',
    accountId,
    type: 'http_request_complete.v0',
    fields: [],
    filter: '',
    sampleRate: 1,
    destinationIds: ['ed_1'],
    ...more,
  };
}

/** What is told of, and what comes out of it by destination, without a buffer between. A report is written at once unless a schedule is given. */
export async function recorded(
  sources: readonly TrafficSource[],
  random: () => number = Math.random,
  schedule: Schedule = atOnce,
) {
  const events: { to: string; text: string }[] = [];
  const store = { sources: async () => [...sources], onSourcesChange: () => () => {} };
  const audience = new TrafficSubscribers({ store, objects: trafficObjects, onFailure: fail });
  await audience.refresh();
  const counters = trafficCounters();
  const failures: unknown[] = [];
  let ids = 0;
  const recorder = new TrafficEvents({
    subscribers: audience,
    buffer: { add: (to, text) => void events.push({ to, text }) },
    counters,
    newEventId: () => `ev_${++ids}`,
    random,
    time: () => Date.UTC(2026, 10, 21, 9, 0, 4, 500),
    onFailure: (error) => void failures.push(error),
    schedule,
  });
  return { recorder, counters, events, failures, audience };
}

/** A buffer over a store in which `append` is what a test makes of it, with the batches that it took. */
export function buffered(
  append: TrafficStore['append'] = async () => {},
  more: Partial<EventBufferParts> = {},
  failures: unknown[] = [],
) {
  const counters = trafficCounters();
  const taken: { to: string; count: number; body: Buffer; dropped: number }[] = [];
  const store: Pick<TrafficStore, 'append'> = {
    async append(to, events, dropped) {
      await append(to, events, dropped);
      for (const [place, batch] of events.entries()) taken.push({ to, ...batch, dropped: place === 0 ? dropped : 0 });
    },
  };
  const onFailure = (error: unknown) => void failures.push(error);
  const buffer = new EventBuffer({ store, maxBytes: 2 ** 26, counters, onFailure, random: Math.random, ...more });
  const idsTo = async (destinationId: string) => {
    const own = taken.filter(({ to }) => to === destinationId);
    return (await Promise.all(own.map(({ body }) => unpackEvents(body)))).flat().map(({ id }) => id);
  };
  return { buffer, counters, taken, failures, idsTo };
}

/** Time that passes when a test says so. */
export function clock() {
  let now = 0;
  const due = new Set<{ at: number; work: () => void }>();
  return {
    schedule(ms: number, work: () => void) {
      const entry = { at: now + ms, work };
      due.add(entry);
      return () => void due.delete(entry);
    },
    pass(ms: number) {
      now += ms;
      for (const entry of [...due].sort((a, b) => a.at - b.at)) if (entry.at <= now && due.delete(entry)) entry.work();
    },
  };
}

const atOnce: Schedule = (_, work) => {
  work();
  return () => {};
};

/** All that is scheduled is due at once. */
export const hurried = (_: number, work: () => void) => {
  const immediate = setImmediate(work);
  return () => clearImmediate(immediate);
};

function fail(error: unknown): never {
  throw error;
}
