// Builds the event plane: the reporter of traffic, the queues of events, and their delivery.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DestinationTester } from '../api/dependencies.ts';
import type { Config } from '../config/config.ts';
import type { TrafficReporter } from '../edge/reports/traffic-reports.ts';
import { newDeliveryCounters } from '../events/delivery/counters.ts';
import { Deliverer } from '../events/delivery/deliverer.ts';
import { secretsUnreadable } from '../events/delivery/open-sinks.ts';
import { asSinkError } from '../events/delivery/request.ts';
import { deliverTestEvent } from '../events/delivery/test-delivery.ts';
import { readWritten, writeEvent } from '../events/event.ts';
import { RecentBatches } from '../events/recent-batches.ts';
import { openOutbound } from '../events/sinks/http/outbound.ts';
import { openSink } from '../events/sinks/index.ts';
import { EventBuffer } from '../events/traffic/buffer.ts';
import { trafficCounters } from '../events/traffic/counters.ts';
import { trafficObjects } from '../events/traffic/gateway-objects.ts';
import { TrafficSubscribers } from '../events/traffic/subscribers.ts';
import { TrafficEvents } from '../events/traffic/traffic-events.ts';
import { TEST_EVENT } from '../events/types.ts';
import { eventMetrics } from '../monitoring/event-metrics.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { Changes } from '../store/changes/changes.ts';
import type { PrismaClient } from '../store/database/client.ts';
import { backlogOf } from '../store/events/backlog.ts';
import { destinationQueueStore } from '../store/events/destination-queues.ts';
import { type SweptEvents, sweepEvents } from '../store/events/retention.ts';
import { Sweeper } from '../store/events/sweeper.ts';
import { trafficStore } from '../store/events/traffic-store.ts';
import { newId } from '../store/ids.ts';
import type { Keys } from '../store/keys/keys.ts';

/** The interval at which events beyond the limits of age and number are deleted; milliseconds. */
const SWEEP_INTERVAL_MS = 5000;
/** The timeout of a test event to a destination; milliseconds. */
const TEST_TIMEOUT_MS = 20_000;
/**
 * The time in which open requests may complete at a stop; milliseconds. Events of aborted ones are sent again after the
 * next start.
 */
const DRAIN_MAX_MS = 5000;

/** The dependencies of the event plane. */
export interface EventPlaneParts {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  /** The id of this node. */
  nodeId: string;
  log: Logger;
  registry: Registry;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** The timeout of a request to a destination, in milliseconds; undefined for the default of the sinks. */
  requestMs: number | undefined;
}

/** The event plane. */
export interface EventPlane extends DestinationTester {
  /** The receiver of the data plane's traffic reports. */
  reporter: TrafficReporter;
  /** Starts the delivery. Resolves when the subscriptions to traffic events are loaded. */
  start(): Promise<void>;
  /** Stores the reported traffic, ends open requests, and stops. */
  close(): Promise<void>;
}

export function eventPlane(config: Config, parts: EventPlaneParts): EventPlane {
  const { prisma, changes, keys, nodeId, log, registry, now, requestMs } = parts;
  const failed = (text: string) => (error: unknown) => log.error({ err: describeFailure(error) }, text);
  const skew = () => now() - Date.now();
  const monotonic = () => performance.now();

  const outbound = openOutbound(config);
  const open = (target: Parameters<typeof openSink>[0], of: { destinationId: string; accountId: string }) =>
    openSink(target, { ...of, settings: config, outbound, now });

  const traffic = trafficCounters();
  const recent = new RecentBatches();
  const store = trafficStore({ prisma, changes, recent });
  const audience = new TrafficSubscribers({
    store,
    objects: trafficObjects,
    onFailure: failed('subscriptions cannot be read; trying again'),
  });
  const buffer = new EventBuffer({
    store,
    maxBytes: config.eventBufferBytes,
    counters: traffic,
    recent,
    onFailure: failed('events cannot be stored; trying again'),
    random: Math.random,
  });
  const reporter = new TrafficEvents({
    subscribers: audience,
    buffer,
    counters: traffic,
    newEventId: () => newId('ev'),
    random: Math.random,
    time: now,
    onFailure: failed('an event cannot be written'),
  });

  const lanes = destinationQueueStore({ prisma, changes, keys, skew, nodeId, recent });
  const delivery = newDeliveryCounters();
  const deliverer = new Deliverer({
    queues: lanes,
    openSink: open,
    random: Math.random,
    now: monotonic,
    wallClock: now,
    counters: delivery,
    onFailure: failed('events cannot be read for delivery; trying again'),
    settings: { drainMs: Math.min(config.drainMs, DRAIN_MAX_MS), ...(requestMs !== undefined && { requestMs }) },
  });
  const swept: SweptEvents = { trafficTooOld: 0, auditTooOld: 0, trafficOverCap: 0, auditOverCap: 0, deadLetters: 0 };
  const sweeper = new Sweeper({
    sweep: async () => {
      const more = await sweepEvents({ prisma, changes, skew }, config);
      for (const reason of Object.keys(swept) as (keyof SweptEvents)[]) swept[reason] += more[reason];
    },
    pauseMs: SWEEP_INTERVAL_MS,
    onFailure: failed('events cannot be swept; trying again'),
  });
  eventMetrics(registry, { traffic, delivery, swept, backlog: backlogOf(prisma) });

  const stops = [
    changes.listen(({ kind, action }) => {
      if (kind === 'eventDelivery' && action === 'CREATED') deliverer.wake();
    }),
    // A new subscription applies from the next request on.
    changes.follow(async (told) => {
      if (told.some(({ kind }) => kind === 'eventSubscription')) await audience.refresh();
    }),
  ];

  return {
    reporter,

    async start() {
      await lanes.recover();
      deliverer.start();
      sweeper.start();
      await audience.refresh();
    },

    async testDestination(target, where) {
      const eventId = newId('ev');
      const envelope = {
        id: eventId,
        type: TEST_EVENT,
        at: now(),
        accountId: where.accountId,
      } as const;
      const event = readWritten(writeEvent({ ...envelope, principal: null, object: { id: where.destinationId } }));
      try {
        if (!target) throw secretsUnreadable();
        const sink = await open(target, where);
        const { ok, latencyMs, reason } = await deliverTestEvent(sink, event, {
          timeoutMs: requestMs ?? TEST_TIMEOUT_MS,
          now: monotonic,
        }).finally(() => sink.close());
        return { ok, latencyMs, eventId, code: reason?.code ?? null, message: reason?.message ?? null };
      } catch (error) {
        const { code, message } = asSinkError(error);
        return { ok: false, latencyMs: 0, eventId, code, message };
      }
    },

    async close() {
      sweeper.close();
      for (const stop of stops) stop();
      reporter.flush();
      await buffer.flush();
      buffer.close();
      audience.close();
      await deliverer.close();
      recent.clear();
      outbound.close();
    },
  };
}
