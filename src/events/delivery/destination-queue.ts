// What delivery asks of the store. A lane is the way to one destination: whoever has leased it delivers, so that there is
// one sender per destination over all nodes, and its events go in order.

import type { PackedEvents } from '../batch.ts';
import type { WrittenEvent } from '../event.ts';
import type { Target } from '../sinks/index.ts';
import type { Reason } from '../sinks/sink.ts';

export interface LeasedQueue {
  destinationId: string;
  accountId: string;
  /** Proves that the lease is still ours: with each claim another one. */
  token: string;
  /** Failures since the last success. */
  attempts: number;
  /** With its secrets in clear; undefined when they cannot be opened. */
  target: Target | undefined;
  /** Equal ones are the same target: a sink can be kept. Gives nothing of it away. */
  fingerprint: string;
}

export interface StoredBatch {
  /** Their order is that of delivery. */
  id: string;
  count: number;
  body: Uint8Array;
}

/** An event that is given up for good. */
export interface UndeliverableEvent extends Reason {
  event: WrittenEvent;
}

/** What became of batches that were read. */
export interface DeliveryProgress {
  /** Batches of which nothing is left. */
  done: readonly string[];
  /** Batches of which only this is left. */
  shortened: readonly { id: string; left: PackedEvents }[];
  dead: readonly UndeliverableEvent[];
  /** How many events were taken by the target. */
  delivered: number;
}

/** How the lane goes on. */
export type QueueOutcome =
  /** There may be more: the lease is extended. */
  | { kind: 'goesOn' }
  /** Nothing waits, or it is another's turn: the lease ends. */
  | { kind: 'rests' }
  /** It failed: the lease ends, and nobody tries before so many milliseconds are over. */
  | { kind: 'waits'; state: 'RETRYING' | 'FAILING'; ms: number; reason: Reason };

export interface DestinationQueueStore {
  /** Leases a lane that is due and has events waiting, the one that has been due for longest; undefined when none is. */
  claim(leaseMs: number): Promise<LeasedQueue | undefined>;
  /** The oldest batches of a lane. At least one if there are any, however large that is. */
  read(lane: LeasedQueue, limits: { batches: number; bytes: number }): Promise<StoredBatch[]>;
  /**
   * Writes down what became of what was read, all or nothing.
   * @returns false, and nothing is written, when the lease is not ours any more: another may have sent the same.
   */
  settle(lane: LeasedQueue, progress: DeliveryProgress, verdict: QueueOutcome, leaseMs: number): Promise<boolean>;
}
