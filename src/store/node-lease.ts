// The lease of a node: what the node serves counts only while its lease is valid.

export interface NodeLease {
  id: string;
  /** When the lease was taken or renewed last: `performance.now()` just before the statement was sent. */
  readonly renewedAt: number;
  /** Renews the lease. It must be called more often than the lease is long. Concurrent calls share one renewal. */
  renew(): Promise<void>;
  /**
   * Calls the listener when the lease had ended before it was renewed. Other nodes may have taken over what this node served, so
   * all of it was deleted from the database and must end in this process too.
   */
  onLapse(listener: () => void): void;
  /** Ends the lease, and with it everything that the node served. */
  release(): Promise<void>;
}
