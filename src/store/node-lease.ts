// The lease of a node: what the node serves counts only while its lease is valid.

export interface NodeLease {
  id: string;
  /** When the lease was taken or renewed last: `performance.now()` just before the statement was sent. */
  readonly renewedAt: number;
  /**
   * Whether the lease was renewed within half of its length. If not, the database may have been away, and the leases of nodes that
   * are alive may have ended: this one is to be renewed before anything is decided by the leases of others.
   */
  readonly isRecent: boolean;
  /** Whether every renewal was in time for as long as a lease is: nodes whose lease has ended are gone then. */
  readonly isSettled: boolean;
  /** Renews the lease. It must be called more often than the lease is long. Concurrent calls share one renewal. */
  renew(): Promise<void>;
  /**
   * Calls the listener when other nodes had deleted this node after its lease had ended. All that it served is gone from the
   * database and must end in this process too.
   */
  onLapse(listener: () => void): void;
  /**
   * Calls the listener when the lease had ended and was renewed before others deleted this node, as after a failover of the
   * database. What it served goes on, except what others have taken over meanwhile.
   */
  onRevival(listener: () => void): void;
  /** Tells the other nodes where they reach this one, as `host:port`. */
  announceAddress(address: string): Promise<void>;
  /** Ends the lease, and with it everything that the node served. */
  release(): Promise<void>;
}
