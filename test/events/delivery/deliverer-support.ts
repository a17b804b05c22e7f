// A deliverer at work on a database of its own, and its sinks by destination.

import { performance } from 'node:perf_hooks';
import { expect, onTestFinished } from 'vitest';
import { newDeliveryCounters } from '../../../src/events/delivery/counters.ts';
import { Deliverer, type DeliverySettings } from '../../../src/events/delivery/deliverer.ts';
import type { DestinationQueueStore } from '../../../src/events/delivery/destination-queue.ts';
import { destinationQueueStore } from '../../../src/store/events/destination-queues.ts';
import { idOf, queueDatabase, written } from '../../store/queues/queue-database.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestSink, testSink } from './test-sink.ts';

export interface DelivererOptions {
  settings?: Partial<DeliverySettings>;
  queues?: DestinationQueueStore;
  random?: number;
}

type DelivererTest = Awaited<ReturnType<typeof delivererTest>>;
export type StartDeliverer = DelivererTest['start'];
export type ExpectQueue = DelivererTest['expectQueue'];

export const until = (check: () => unknown) =>
  eventually(async () => void (await check()), { timeout: 18_000, interval: 10 });

/** Everything that a test of a deliverer needs. The database has no destinations yet. */
export async function delivererTest() {
  const db = await queueDatabase();

  /** Starts a deliverer until the test is over. It delivers to test sinks. */
  function start({ settings, queues = destinationQueueStore(db.parts), random = 0 }: DelivererOptions = {}) {
    const sinks = new Map<string, TestSink>();
    const failures: unknown[] = [];
    const opened: string[] = [];
    const counters = newDeliveryCounters();
    const sinkOf = (id: string) => {
      const sink = sinks.get(id) ?? testSink();
      sinks.set(id, sink);
      return sink;
    };
    const deliverer = new Deliverer({
      queues,
      openSink: async (target, { destinationId }) => {
        opened.push(target.webhook?.url ?? '');
        return sinkOf(destinationId);
      },
      random: () => random,
      now: () => performance.now(),
      counters,
      onFailure: (error) => void failures.push(error),
      settings: { pollMs: 50, drainMs: 100, ...settings },
    });
    deliverer.start();
    onTestFinished(() => deliverer.close());
    const texts = async (id: string, count: number) => {
      const events = written(count);
      await db.store(id, events);
      deliverer.wake();
      return events.map(idOf);
    };
    return { deliverer, sinkOf, counters, failures, opened, texts };
  }

  const expectQueue = async (id: string, expected: object) => expect(await db.queue(id)).toMatchObject(expected);
  return { db, start, expectQueue };
}
