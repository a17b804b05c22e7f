// The endpoints that Prometheus sees one by one: so many at most, as each is a series of its own there. All others are one together.

import { addToHistogram } from './duration-sketch.ts';
import type { TrafficDelta } from './traffic-stats-store.ts';

/** After so many buckets without a request an endpoint gives its place to another: ten minutes. */
const IDLE_BUCKETS_MAX = 60;
/** Upper bounds of the durations that are counted together; milliseconds. Fewer than of all visits: each is a series for each endpoint. */
export const ENDPOINT_BOUNDS_MS: readonly number[] = [10, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 60_000];

/** Durations by `ENDPOINT_BOUNDS_MS`, those above all of them at the end; their sum in milliseconds. */
export interface EndpointDurations {
  counts: number[];
  sum: number;
}

export interface EndpointCounts {
  /** By the first digit of the status; without a response at 0. */
  responses: number[];
  bytesIn: number;
  bytesOut: number;
  /** Of requests and connections that ended. */
  durations: EndpointDurations;
  /** To the first bytes of responses. */
  firstBytes: EndpointDurations;
  /** At the end of the last bucket. */
  openConnections: number;
}

interface Place extends EndpointCounts {
  url: string;
  idleBuckets: number;
}

/** What is counted together for the endpoints without a place. */
const OTHERS = 'other';

export class BusiestEndpoints {
  readonly #max: number;
  readonly #places = new Map<string, Place>();
  readonly #others: EndpointCounts = newCounts();

  /** @param max the number of places; 0: nothing is kept. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Adds a bucket. A free place goes to the endpoint with the most requests in it. */
  add(deltas: Iterable<TrafficDelta>, urlOf: (subjectId: string) => string | undefined): void {
    if (this.#max === 0) return;
    for (const place of this.#places.values()) {
      place.idleBuckets++;
      place.openConnections = 0;
    }
    this.#others.openConnections = 0;
    const endpoints = [...deltas].flatMap((delta) => {
      const url = urlOf(delta.subjectId);
      return url === undefined ? [] : { delta, url };
    });
    endpoints.sort((a, b) => sum(b.delta.responses) - sum(a.delta.responses));
    for (const { delta, url } of endpoints) {
      const place = this.#places.get(delta.subjectId) ?? this.#newPlace(delta.subjectId, url);
      if (place) place.idleBuckets = 0;
      addTo(place ?? this.#others, delta);
    }
  }

  /** What each has had since it got its place, and the others together. */
  rows(): [endpoint: string, counts: EndpointCounts][] {
    if (this.#max === 0) return [];
    return [...[...this.#places.values()].map((place): [string, Place] => [place.url, place]), [OTHERS, this.#others]];
  }

  #newPlace(id: string, url: string): Place | undefined {
    if (this.#places.size >= this.#max) {
      const idle = [...this.#places].find(([, { idleBuckets }]) => idleBuckets > IDLE_BUCKETS_MAX);
      if (!idle) return undefined;
      this.#places.delete(idle[0]);
    }
    const place = { ...newCounts(), url, idleBuckets: 0 };
    this.#places.set(id, place);
    return place;
  }
}

function newCounts(): EndpointCounts {
  return {
    responses: [0, 0, 0, 0, 0, 0],
    ...{ bytesIn: 0, bytesOut: 0, openConnections: 0 },
    durations: newDurations(),
    firstBytes: newDurations(),
  };
}

function newDurations(): EndpointDurations {
  return { counts: [...ENDPOINT_BOUNDS_MS, 0].fill(0), sum: 0 };
}

function addTo(counts: EndpointCounts, delta: TrafficDelta): void {
  const { responses, bytesIn, bytesOut, durations, firstBytes, openConnections } = delta;
  counts.responses = counts.responses.map((count, digit) => count + (responses[digit] ?? 0));
  counts.bytesIn += bytesIn;
  counts.bytesOut += bytesOut;
  counts.openConnections += openConnections;
  addDurations(counts.durations, durations);
  addDurations(counts.firstBytes, firstBytes);
}

function addDurations(durations: EndpointDurations, encoded: Uint8Array | null): void {
  if (encoded) durations.sum += addToHistogram(durations.counts, ENDPOINT_BOUNDS_MS, encoded);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}
