// Traffic events by the thousand, fed to a gateway's pipeline as its public side would, for a sink that is slower than they
// come. Afterwards each is accounted for: it was received, it waits, or it was dropped and counted.

import { setTimeout as later } from 'node:timers/promises';
import { expect } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import type { TrafficReporter } from '../../../src/edge/reports/traffic-reports.ts';
import { sweepEvents } from '../../../src/store/events/retention.ts';
import { eventually } from '../eventually.ts';
import { startTestGateway, type TestGateway } from '../gateway/gateway.ts';
import { type MemoryFigures, sampleMemory } from '../load/memory.ts';
import { root } from '../root.ts';
import { startSlowSink } from './slow-sink.ts';
import { reportOf } from './synthetic-report.ts';

export interface TrafficLoad {
  perSecond: number;
  seconds: number;
  /** How long the sink takes for a request of at most 500 events; milliseconds. */
  answerMs: number;
  /** How many are fed at once before: more than fit in memory. */
  burst: number;
  /** `EVENT_BUFFER_MB` and `EVENT_BACKLOG_MB`. */
  env: Record<string, string>;
}

export interface TrafficLoadFigures {
  fed: number;
  received: number;
  /** Events that were received more than once, each time the same. */
  twice: number;
  waiting: number;
  /** Dropped, because too many were in memory, or waited in the store. */
  fromBuffer: number;
  fromBacklog: number;
  memory: MemoryFigures;
  /** How long the event loop was busy with other things at most; milliseconds. */
  stall: number;
}

/** How often events are fed: all that are due. */
const TICK_MS = 10;
/** How long something may take that has to come by itself. */
const SETTLE_MS = 20_000;
const TYPE = 'http_request_complete.v0';

/** Feeds events, stops the sink, and looks where each event is. */
export async function trafficLoad(load: TrafficLoad): Promise<TrafficLoadFigures> {
  const sink = await startSlowSink(load.answerMs);
  const gateway = await startTestGateway({ EVENT_WEBHOOK_HOSTS: '127.0.0.1/32', ...load.env });
  try {
    const destination = await subscribe(gateway, sink.url);
    const { reporter } = gateway.events;
    expect(reporter.wantsRequests(gateway.accountId)).toBe(true);
    const rss = sampleMemory();
    const stall = await feed(reporter, gateway.accountId, load);
    const memory = rss.end();
    await eventually(() => expect(sink.received.size).toBeGreaterThan(0), { timeout: SETTLE_MS });
    sink.refuse();
    const until = (expected: Partial<Standing>) =>
      eventually(
        async () => {
          const found = await standing(gateway, destination);
          expect(found).toMatchObject(expected);
          return found;
        },
        { timeout: SETTLE_MS, interval: 100 },
      );
    await until({ buffered: 0, state: 'retrying' });
    // How many were dropped is told with what is stored next.
    const fed = load.burst + load.perSecond * load.seconds + 1;
    reporter.request(reportOf(gateway.accountId, fed));
    const { prisma, changes } = gateway.app;
    await until({ buffered: 0 });
    await sweepEvents({ prisma, changes, skew: () => 0 }, readConfig(load.env, root));
    const { waiting, delivered, dropped, fromBuffer } = await until({ buffered: 0, state: 'retrying' });
    const received = sink.received.size;
    const { twice } = sink;
    const figures = { fed, received, twice, waiting, fromBuffer, fromBacklog: dropped - fromBuffer, memory, stall };
    expect(sink.mistakes).toEqual([]);
    expect(received + waiting + dropped, JSON.stringify(figures)).toBe(fed);
    expect(delivered).toBe(received + twice);
    return figures;
  } finally {
    await gateway.close();
    sink.close();
  }
}

/** @returns the id of the destination. */
async function subscribe({ call }: TestGateway, url: string): Promise<string> {
  const target = { webhook: { url, signing_secret: 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cywgMzIgYnl0ZXM=' } };
  const destination = await call('POST', '/event_destinations', { format: 'json', target });
  expect(destination.status, destination.text).toBe(201);
  const { id } = destination.body;
  const subscription = await call('POST', '/event_subscriptions', { sources: [{ type: TYPE }], destination_ids: [id] });
  expect(subscription.status, subscription.text).toBe(201);
  return id;
}

/** Feeds at a steady rate; what could not be fed in time is fed later. @returns `stall`. */
async function feed(
  reporter: TrafficReporter,
  accountId: string,
  { perSecond, seconds, burst }: TrafficLoad,
): Promise<number> {
  let fed = 0;
  while (fed < burst) reporter.request(reportOf(accountId, ++fed));
  const began = performance.now();
  const all = burst + perSecond * seconds;
  let [before, stall] = [began, 0];
  while (fed < all) {
    await later(TICK_MS);
    const now = performance.now();
    stall = Math.max(stall, now - before - TICK_MS);
    before = now;
    const due = Math.min(all, burst + Math.floor(((now - began) / 1000) * perSecond));
    while (fed < due) reporter.request(reportOf(accountId, ++fed));
  }
  return Math.round(stall);
}

/** Where the events of a destination are, as the API and the metrics say. */
interface Standing {
  state: string;
  /** In memory, and in the store. */
  buffered: number;
  waiting: number;
  delivered: number;
  dropped: number;
  /** Of those. */
  fromBuffer: number;
}

async function standing({ call, admin }: TestGateway, destination: string): Promise<Standing> {
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  const metric = (name: string) =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  const { body } = await call('GET', `/event_destinations/${destination}/delivery`);
  return {
    state: body.state,
    buffered: metric('traffic_events_waiting'),
    waiting: body.waiting_events,
    delivered: body.delivered_events,
    dropped: body.dropped_events,
    fromBuffer: metric('events_dropped_total{reason="buffer_full"}'),
  };
}
