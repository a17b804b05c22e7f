// Records the figures of traffic: which meters are visited, and at the end of each bucket what they have counted. What cannot be
// stored waits in memory, up to a limit.

import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { TrafficMeter } from '../../tunnel/endpoints/traffic-meter.ts';
import { BusiestEndpoints } from './busiest-endpoints.ts';
import { BUCKET_MS, type TrafficBucket, type TrafficStatsStore } from './traffic-stats-store.ts';
import { TrafficSums } from './traffic-sums.ts';
import { TrafficWindow } from './traffic-window.ts';

/** The most meters that are recorded at once. Visits at others are counted together. */
const METERS_MAX = 20_000;
/** The most deltas that wait to be stored. Then the oldest bucket is given up. */
const WAITING_MAX = 100_000;
/** How many meters are read in one turn of the event loop, so that visitors do not wait. */
const SLICE = 200;
/** How often it is looked at least whether a bucket is over, milliseconds: the wall clock may be set. */
const CHECK_MS = 1000;
/** How long a stop waits for what was counted last to be stored; milliseconds. */
const CLOSE_MS = 5000;

export interface RecorderCounters {
  /** Requests and connections that were not recorded, as too many endpoints are visited. */
  unrecorded: number;
  /** What was counted and could not be stored: deltas, each of one subject in one bucket. */
  lost: number;
}

export interface TrafficRecorderOptions {
  store: TrafficStatsStore;
  /** Names this process in what is stored; another one at each start. */
  writer: string;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Called when figures cannot be stored, and again only after that has worked in between. They are tried again. */
  onFailure(error: unknown): void;
  /** How many endpoints Prometheus sees one by one. */
  busiestMax: number;
  metersMax?: number;
  /** How long a stop waits for the last figures to be stored; milliseconds. Five seconds when left out. */
  closeMs?: number;
}

export class TrafficRecorder {
  readonly counters: RecorderCounters = { unrecorded: 0, lost: 0 };
  readonly busiest: BusiestEndpoints;
  readonly #options: TrafficRecorderOptions;
  readonly #windows = new Set<TrafficWindow>();
  /** The URLs of the endpoints that are recorded, by id. */
  readonly #urls = new Map<string, string>();
  #waiting: TrafficBucket[] = [];
  /** The start of the bucket that is counted now. */
  #at: number;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: TrafficRecorderOptions) {
    this.#options = options;
    this.busiest = new BusiestEndpoints(options.busiestMax);
    this.#at = bucketOf(options.now());
  }

  /** The number of meters that are recorded. */
  get size(): number {
    return this.#windows.size;
  }

  start(): void {
    if (this.#isClosed) return;
    const left = BUCKET_MS - (this.#options.now() % BUCKET_MS);
    this.#timer = setTimeout(() => void this.#check().then(() => this.start()), Math.min(left, CHECK_MS)).unref();
  }

  /** Stores what was counted last, if that is done within a moment. It never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const flushed = (this.#flushing ?? Promise.resolve()).then(() => this.#flush());
    await Promise.race([flushed, delay(this.#options.closeMs ?? CLOSE_MS, undefined, { ref: false })]);
  }

  /** Begins to record an endpoint that is visited, and the edge that serves it. */
  recordEndpoint(meter: TrafficMeter, { id, accountId, edgeId, publicUrl }: LiveEndpoint): void {
    const subjects = [id, edgeId ?? '', accountId].filter((subject) => subject !== '');
    if (this.#record(meter, accountId, subjects)) this.#urls.set(id, publicUrl);
  }

  /** Begins to record a route of an edge. */
  recordRoute(meter: TrafficMeter, routeId: string, accountId: string): void {
    this.#record(meter, accountId, [routeId]);
  }

  /** @returns false when there are too many already. */
  #record(meter: TrafficMeter, accountId: string, subjectIds: readonly string[]): boolean {
    if (this.#windows.size >= (this.#options.metersMax ?? METERS_MAX)) {
      this.counters.unrecorded++;
      return false;
    }
    const window = new TrafficWindow(meter, accountId, subjectIds);
    meter.recording = window;
    this.#windows.add(window);
    return true;
  }

  async #check(): Promise<void> {
    if (bucketOf(this.#options.now()) === this.#at) return;
    this.#flushing = this.#flush();
    await this.#flushing;
    this.#flushing = undefined;
  }

  async #flush(): Promise<void> {
    const at = this.#at;
    this.#at = bucketOf(this.#options.now());
    const sums = await this.#collect();
    const deltas = [...sums.deltas()];
    this.busiest.add(deltas, (id) => this.#urls.get(id));
    if (deltas.length > 0) this.#waiting.push({ writer: this.#options.writer, at, deltas });
    this.#limitWaiting();
    await this.#store();
  }

  async #collect(): Promise<TrafficSums> {
    const sums = new TrafficSums();
    let read = 0;
    for (const window of this.#windows) {
      const counts = window.take();
      if (counts) sums.add(window.accountId, window.subjectIds, counts);
      else this.#forget(window);
      if (++read % SLICE === 0) await nextTurn();
    }
    return sums;
  }

  /** Nobody visits it now. */
  #forget(window: TrafficWindow): void {
    this.#windows.delete(window);
    window.meter.recording = undefined;
    // Another session of the endpoint names it again at the next visit.
    for (const id of window.subjectIds) this.#urls.delete(id);
  }

  #limitWaiting(): void {
    let count = this.#waiting.reduce((sum, { deltas }) => sum + deltas.length, 0);
    while (count > WAITING_MAX) {
      const given = this.#waiting.shift()?.deltas.length ?? 0;
      this.counters.lost += given;
      count -= given;
    }
  }

  async #store(): Promise<void> {
    try {
      for (let bucket = this.#waiting[0]; bucket; bucket = this.#waiting[0]) {
        const wasTaken = await this.#options.store.append(bucket);
        if (!wasTaken) this.counters.lost += bucket.deltas.length;
        this.#waiting.shift();
        this.#isFailing = false;
      }
    } catch (error) {
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
    }
  }
}

function bucketOf(time: number): number {
  return time - (time % BUCKET_MS);
}
