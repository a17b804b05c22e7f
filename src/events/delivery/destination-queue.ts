// What delivery asks of the store. Each destination has one queue. Only the holder of its lease delivers from it, so that over
// all nodes there is one sender per destination, and its events stay in order.

import type { PackedEvents } from '../batch.ts';
import type { RecentBatch } from '../recent-batches.ts';
import type { Target } from '../sinks/index.ts';
import type { Reason } from '../sinks/sink.ts';
import type { WrittenEvent } from '../written-event.ts';

export interface LeasedQueue {
  destinationId: string;
  accountId: string;
  /** Proves that the lease is still ours. Each claim makes a new one. */
  token: string;
  /** Failures since the last success. */
  attempts: number;
  /** With its secrets decrypted; undefined when they cannot be decrypted. */
  target: Target | undefined;
  /** Equal for equal targets, so that an open sink can be used again. It reveals nothing of the target. */
  fingerprint: string;
}

export interface StoredBatch {
  /** Batches are delivered in the order of their ids. */
  id: string;
  count: number;
  /** Empty where `recent` has its lines. */
  body: Uint8Array;
  /** The reader's from then on. */
  recent?: RecentBatch | undefined;
}

/** An event that becomes a dead letter. */
export interface UndeliverableEvent extends Reason {
  event: Pick<WrittenEvent, 'id' | 'type' | 'text'>;
}

/** What became of batches that were read. */
export interface DeliveryProgress {
  /** The ids of batches of which every event is delivered or dead. */
  done: readonly string[];
  /** Batches of which only some events remain to be delivered. */
  shortened: readonly { id: string; remaining: PackedEvents }[];
  dead: readonly UndeliverableEvent[];
  /** How many events the target accepted. */
  delivered: number;
}

/** What happens to the lease of a queue when its progress is settled. */
export type QueueOutcome =
  /** There may be more events: the lease is extended. */
  | { kind: 'continue' }
  /** Nothing waits, or the time slice is over: the lease ends. */
  | { kind: 'release' }
  /** The delivery failed: the lease ends, and no node tries again before so many milliseconds are over. */
  | { kind: 'backoff'; state: 'RETRYING' | 'FAILING'; ms: number; reason: Reason };

export interface DestinationQueueStore {
  /** Leases the queue with waiting events that has been due for longest; undefined when none is due. */
  claim(leaseMs: number): Promise<LeasedQueue | undefined>;
  /** The oldest batches of a queue, within the limits; but at least one if there are any, however large it is. */
  read(queue: LeasedQueue, limits: { batches: number; bytes: number }): Promise<StoredBatch[]>;
  /**
   * Stores the result of a delivery, all or nothing.
   * @returns false, and stores nothing, when the lease is no longer ours: another node may have sent the same events.
   */
  settle(queue: LeasedQueue, progress: DeliveryProgress, outcome: QueueOutcome, leaseMs: number): Promise<boolean>;
}
