// Delivers from the queue of one destination: reads its oldest batches, sends them and settles them, until the queue is empty,
// its time slice is over, or something fails.

import { sinkNameOf } from '../sinks/index.ts';
import { backoff } from './backoff.ts';
import type { DeliveryCounters } from './counters.ts';
import type { DeliveryProgress, DestinationQueueStore, LeasedQueue, QueueOutcome } from './destination-queue.ts';
import type { OpenedSink, OpenSinks } from './open-sinks.ts';
import { asSinkError } from './request.ts';
import { type SendResult, sendAll } from './send.ts';
import { progressOf, releaseBatches, unpackBatches } from './stored-batches.ts';

/** The most batches that one read returns. */
export const BATCHES_MAX = 64;

export const NO_PROGRESS: DeliveryProgress = { done: [], shortened: [], dead: [], delivered: 0 };

export interface BatchDeliveryDeps {
  queues: DestinationQueueStore;
  sinks: OpenSinks;
  counters: DeliveryCounters;
  random(): number;
  /** The wall clock, in milliseconds. */
  wallClock(): number;
  /** Ends requests under way. */
  signal: AbortSignal;
  settings: { leaseMs: number; requestMs: number };
}

export interface BatchDeliveryOptions {
  /** Called before each request. False once the queue has used its time slice. */
  mayContinue(): boolean;
  /** How many stored bytes one read may return. Unpacked, they take several times as much memory. */
  bytes(): number;
}

/**
 * @returns after a failure, in how many milliseconds the queue is due again; otherwise undefined.
 * @throws when the database does not answer. What was sent since its last answer will be sent again.
 */
export async function deliverBatches(
  queue: LeasedQueue,
  deps: BatchDeliveryDeps,
  { mayContinue, bytes }: BatchDeliveryOptions,
): Promise<number | undefined> {
  const { queues, sinks, settings } = deps;
  const settle = (progress: DeliveryProgress, outcome: QueueOutcome) =>
    queues.settle(queue, progress, outcome, settings.leaseMs);
  let { attempts } = queue;

  const fail = async (error: unknown, progress: DeliveryProgress): Promise<number> => {
    const failure = asSinkError(error);
    if (queue.target) deps.counters.failures[sinkNameOf(queue.target)][failure.kind]++;
    const { kind, code, message } = failure;
    const ms = backoff(failure, attempts, deps.random);
    const state = kind === 'config' ? 'FAILING' : 'RETRYING';
    await settle(progress, { kind: 'backoff', state, ms, reason: { code, message } });
    return ms;
  };

  let opened: OpenedSink;
  try {
    opened = await sinks.sinkFor(queue);
  } catch (error) {
    return fail(error, NO_PROGRESS);
  }
  for (;;) {
    // After a failure one batch is enough to find out whether the target works again.
    const limits = { batches: attempts > 0 ? 1 : BATCHES_MAX, bytes: bytes() };
    const stored = await queues.read(queue, limits);
    const batches = await unpackBatches(stored);
    const events = batches.flatMap((batch) => batch.events);
    const { signal } = deps;
    const { requestMs: timeoutMs } = settings;
    const { batchLimit } = opened;
    const sent = await sendAll(opened.sink, events, { mayContinue, timeoutMs, signal, batchLimit });
    opened.batchLimit = sent.batchLimit;
    count(deps, queue, sent);
    const delivered = sent.delivered.length - sent.unnamedRejections;
    const progress = await progressOf(batches, { ...sent, delivered }).finally(() =>
      releaseBatches(batches, hasAll(sent)),
    );
    if (sent.delivered.length > 0) attempts = 0;
    if (sent.failure) return fail(sent.failure, progress);
    const isDrained = stored.length < limits.batches && sum(stored) < limits.bytes / 2;
    const continues = !isDrained && mayContinue() && !signal.aborted;
    const isLeaseHeld = await settle(progress, { kind: continues ? 'continue' : 'release' });
    if (!continues || !isLeaseHeld) return undefined;
  }
}

/** Whether every event was delivered: of one that failed a request may still be under way, and dead letters are read when they are stored. */
function hasAll({ failure, remaining, dead, splits }: SendResult): boolean {
  return !failure && remaining.length + dead.length + splits === 0;
}

function sum(batches: readonly { body: Uint8Array }[]): number {
  return batches.reduce((bytes, { body }) => bytes + body.length, 0);
}

function count({ counters, wallClock }: BatchDeliveryDeps, { target }: LeasedQueue, sent: SendResult): void {
  if (!target) return;
  const kind = sinkNameOf(target);
  counters.requests[kind] += sent.requests;
  counters.delivered[kind] += sent.delivered.length - sent.unnamedRejections;
  counters.rejected[kind] += sent.unnamedRejections;
  counters.dead[kind] += sent.dead.length;
  counters.failures[kind].split += sent.splits;
  const last = sent.delivered.at(-1);
  if (last) counters.lagMs = Math.max(0, wallClock() - last.at);
}
