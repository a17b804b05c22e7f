// What the data plane asks of whoever keeps the figures of traffic.

/** The length of a bucket in which figures are counted, in milliseconds. Buckets begin at whole multiples of it, by the wall clock. */
export const BUCKET_MS = 10_000;

/** What one process counted of one subject in one bucket. */
export interface TrafficDelta {
  /** An endpoint (`ep_…`), an edge, a route, or the account itself for all its endpoints together. */
  subjectId: string;
  accountId: string;
  /** Requests by what they were answered with: without a response, and by the first digit of their status, 1 to 5. */
  responses: readonly number[];
  /** Those of them that count as failed: answered with a status of 500 or more, or not at all. */
  failures: number;
  /** Connections of TCP and TLS that began. */
  connections: number;
  bytesIn: number;
  bytesOut: number;
  /** Requests and connections that were under way at the end of the bucket. */
  openConnections: number;
  /** The sum of all durations, in milliseconds. */
  durationMs: number;
  /** The durations of the requests and connections that ended, as `encodeSketch` writes them; null when there are none. */
  durations: Uint8Array | null;
  /** The durations to the first byte of the responses that began. */
  firstBytes: Uint8Array | null;
}

export interface TrafficBucket {
  /** The process that counted: a new id at each start, so that the bucket of a restart is another one. */
  writer: string;
  /** The start of the bucket, in milliseconds since 1970. */
  at: number;
  deltas: readonly TrafficDelta[];
}

/** Keeps the figures. */
export interface TrafficStatsStore {
  /**
   * Stores a bucket, whole or not at all. The same bucket may come again and counts once.
   * @returns whether it was taken: one that is older than what has been summed up already is not.
   */
  append(bucket: TrafficBucket): Promise<boolean>;
}
