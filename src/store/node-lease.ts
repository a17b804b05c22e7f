// How long what a node serves counts.

export interface NodeLease {
  id: string;
  /** When it was taken or extended last: by `performance.now()`, just before the database was asked. */
  readonly renewedAt: number;
  /** Extends the lease. It must be called more often than the lease is long; those who call at once share one renewal. */
  renew(): Promise<void>;
  /**
   * Hears when the lease had ended before it was renewed. What this node served may be with others since then, so all of
   * it is gone from the database, and must end here too.
   */
  onLapse(listener: () => void): void;
  /** Ends the lease, and with it everything the node served. */
  release(): Promise<void>;
}
