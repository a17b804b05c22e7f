/** What becomes of traffic events, in plain numbers: they are looked at when somebody asks. */
export interface TrafficCounters {
  /** Requests and connections of accounts that somebody listens to. */
  reported: number;
  /** Of what was reported, for each source: what its share left out; what its filter did; what the filter failed at. */
  sampledOut: number;
  filteredOut: number;
  filterFailed: number;
  /** Events for a destination, each counted for each of its destinations: they are appended, dropped, or wait. */
  accepted: number;
  /** In the store. */
  appended: number;
  dropped: {
    /** Too many waited already. */
    buffer: number;
    /** They could not be stored before the gateway stopped. */
    closed: number;
  };
  waiting: { events: number; bytes: number };
  /** Attempts to store events that failed; they are made again. */
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
