// What traffic events ask of the store.

import type { PackedEvents } from '../batch.ts';
import type { RecentBatch } from '../recent-batches.ts';

/** One source of a subscription to traffic events. */
export interface TrafficSource {
  subscriptionId: string;
  accountId: string;
  type: 'http_request_complete.v0' | 'tcp_connection_closed.v0';
  /** The fields to deliver; an empty list means all of them. */
  fields: readonly string[];
  /** A CEL expression on `ev`; '' matches all events. */
  filter: string;
  /** Above 0, at most 1. */
  sampleRate: number;
  destinationIds: readonly string[];
}

/** A batch that is to be stored. */
export interface StorableEvents extends PackedEvents {
  /** The lines that are packed in it, where they are kept for whoever delivers them. */
  recent?: RecentBatch | undefined;
}

export interface TrafficStore {
  /** The sources of all subscriptions to traffic events, of all accounts. */
  sources(): Promise<TrafficSource[]>;
  /** Calls the listener whenever the sources may have changed, until the returned function is called. */
  onSourcesChange(listener: () => void): () => void;
  /**
   * Stores events for a destination, in their order, all or none. Events for a deleted destination are discarded.
   * @param events may be empty when there are only drops to count. Once they are stored, the recent batches are the store's.
   * @param dropped how many events for the destination were dropped since the last call; the destination shows the sum.
   * @throws when the database does not answer. Nothing is stored then.
   */
  append(destinationId: string, events: readonly StorableEvents[], dropped: number): Promise<void>;
}
