// A turn of one lane: its oldest batches are read, sent and settled, until there are no more, it is another's turn, or
// something fails.

import { kindOf } from '../sinks/index.ts';
import { backoff } from './backoff.ts';
import type { DeliveryCounters } from './counters.ts';
import type { DeliveryProgress, DestinationQueueStore, LeasedQueue, QueueOutcome } from './destination-queue.ts';
import type { OpenedSink, OpenSinks } from './open-sinks.ts';
import { asSinkError } from './request.ts';
import { type Sent, sendAll } from './send.ts';
import { progressOf, unpackBatches } from './stored-batches.ts';

/** Batches that are read at once. */
export const BATCHES_MAX = 64;

export const NO_PROGRESS: DeliveryProgress = { done: [], shortened: [], dead: [], delivered: 0 };

export interface BatchDeliveryParts {
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
  /** Asked before each request: whether it is still this lane's turn. */
  mayGoOn(): boolean;
  /** How many bytes to read at once, as they are stored: what it makes of memory is several times that. */
  bytes(): number;
}

/**
 * @returns in how many milliseconds the lane is due again, when it failed.
 * @throws when the database is away: what was sent since the last time it answered will be sent again.
 */
export async function deliverBatches(
  lane: LeasedQueue,
  parts: BatchDeliveryParts,
  { mayGoOn, bytes }: BatchDeliveryOptions,
): Promise<number | undefined> {
  const { queues: lanes, sinks, settings } = parts;
  const settle = (progress: DeliveryProgress, verdict: QueueOutcome) =>
    lanes.settle(lane, progress, verdict, settings.leaseMs);
  let { attempts } = lane;

  const fail = async (error: unknown, progress: DeliveryProgress): Promise<number> => {
    const failure = asSinkError(error);
    if (lane.target) parts.counters.failures[kindOf(lane.target)][failure.kind]++;
    const { kind, code, message } = failure;
    const ms = backoff(failure, attempts, parts.random);
    const state = kind === 'config' ? 'FAILING' : 'RETRYING';
    await settle(progress, { kind: 'waits', state, ms, reason: { code, message } });
    return ms;
  };

  let opened: OpenedSink;
  try {
    opened = await sinks.of(lane);
  } catch (error) {
    return fail(error, NO_PROGRESS);
  }
  for (;;) {
    // Whether what failed works again is seen with little.
    const limits = { batches: attempts > 0 ? 1 : BATCHES_MAX, bytes: bytes() };
    const stored = await lanes.read(lane, limits);
    const batches = await unpackBatches(stored);
    const events = batches.flatMap((batch) => batch.events);
    const { signal } = parts;
    const { requestMs: timeoutMs } = settings;
    const sent = await sendAll(opened.sink, events, { mayGoOn, timeoutMs, signal, most: opened.most });
    opened.most = sent.most;
    count(parts, lane, sent);
    const progress = await progressOf(batches, { ...sent, delivered: sent.delivered.length - sent.unnamedRejections });
    if (sent.delivered.length > 0) attempts = 0;
    if (sent.failure) return fail(sent.failure, progress);
    const isAll = stored.length < limits.batches && sum(stored) < limits.bytes / 2;
    const goesOn = !isAll && mayGoOn() && !signal.aborted;
    const isOurs = await settle(progress, { kind: goesOn ? 'goesOn' : 'rests' });
    if (!goesOn || !isOurs) return undefined;
  }
}

function sum(batches: readonly { body: Uint8Array }[]): number {
  return batches.reduce((bytes, { body }) => bytes + body.length, 0);
}

function count({ counters, wallClock }: BatchDeliveryParts, { target }: LeasedQueue, sent: Sent): void {
  if (!target) return;
  const kind = kindOf(target);
  counters.requests[kind] += sent.requests;
  counters.delivered[kind] += sent.delivered.length - sent.unnamedRejections;
  counters.rejected[kind] += sent.unnamedRejections;
  counters.dead[kind] += sent.dead.length;
  counters.failures[kind].split += sent.splits;
  const last = sent.delivered.at(-1);
  if (last) counters.lagMs = Math.max(0, wallClock() - last.at);
}
