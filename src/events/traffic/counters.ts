/** The counters of traffic events. They are plain numbers, which the metrics read when they are scraped. */
export interface TrafficCounters {
  /** Reported requests and connections of accounts that have subscribers. */
  reported: number;
  /** Reports that a source did not get: because of its sample rate, because its filter was false, or because the filter failed. */
  sampledOut: number;
  filteredOut: number;
  filterFailed: number;
  /** Events for destinations. An event counts once for each of its destinations; it is then appended, dropped, or waits. */
  accepted: number;
  /** Events that were stored. */
  appended: number;
  dropped: {
    /** The buffer was full. */
    buffer: number;
    /** The events could not be stored before the gateway stopped. */
    closed: number;
  };
  waiting: { events: number; bytes: number };
  /** Failed attempts to store events. They are retried. */
  failures: number;
}

export function trafficCounters(): TrafficCounters {
  return {
    reported: 0,
    sampledOut: 0,
    filteredOut: 0,
    filterFailed: 0,
    accepted: 0,
    appended: 0,
    dropped: { buffer: 0, closed: 0 },
    waiting: { events: 0, bytes: 0 },
    failures: 0,
  };
}
