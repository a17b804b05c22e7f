// What traffic events ask of the store.

import type { PackedEvents } from '../batch.ts';

/** One source of a subscription to traffic events. */
export interface TrafficSource {
  subscriptionId: string;
  accountId: string;
  type: 'http_request_complete.v0' | 'tcp_connection_closed.v0';
  /** Members of the object to deliver; none is all of them. */
  fields: readonly string[];
  /** An expression on `ev`; '' is all. */
  filter: string;
  /** Above 0, to 1. */
  sampleRate: number;
  destinationIds: readonly string[];
}

export interface TrafficStore {
  /** Every subscription to traffic events, of all accounts. */
  sources(): Promise<TrafficSource[]>;
  /** Calls whenever they may have changed. Ends with the returned function. */
  onSourcesChange(listener: () => void): () => void;
  /**
   * Stores events for a destination, in their order, all or none; those of one that is gone go with it.
   * @param events may be none, where something was dropped.
   * @param dropped events for it that were dropped since the last time, to be shown with it.
   * @throws when the database is away: nothing is stored then.
   */
  append(destinationId: string, events: readonly PackedEvents[], dropped: number): Promise<void>;
}
