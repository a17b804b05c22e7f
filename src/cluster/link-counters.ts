// The counters of node links, which the metrics read.

export interface LinkCounters {
  /** Visits that this node has sent to others, and those that others have sent to it. */
  visitsOut: number;
  visitsIn: number;
  /** The bytes of visits that others have sent to this node, in both directions. */
  bytes: number;
  /** Links that were opened, in either direction, and attempts that failed. */
  opened: number;
  failed: number;
  /** Visits that were sent to another tunnel or node because the first was gone. */
  rerouted: number;
}

export function newLinkCounters(): LinkCounters {
  return { visitsOut: 0, visitsIn: 0, bytes: 0, opened: 0, failed: 0, rerouted: 0 };
}
