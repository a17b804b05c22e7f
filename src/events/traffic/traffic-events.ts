// Makes traffic events from the reports of the data plane. Reports are collected for a moment and written together: the visitors of a turn
// of the event loop are served first, and code that runs many times in a row stays in the processor's caches.

import type { ConnectionReport, RequestReport, TrafficReporter } from '../../edge/reports/traffic-reports.ts';
import { type Schedule, scheduleByTimer } from '../../runtime/schedule.ts';
import { writeEnvelope } from '../event.ts';
import type { AccountSubscribers } from './account-subscribers.ts';
import type { EventBuffer } from './buffer.ts';
import type { TrafficCounters } from './counters.ts';
import type { ReportOf, TrafficType } from './objects.ts';
import type { TrafficSubscribers } from './subscribers.ts';

/** Reports are written so many milliseconds after the first of them came, or as soon as there are so many. */
const WRITE_MS = 20;
const REPORTS_MAX = 4096;
/** How long they are written in one turn of the event loop, in milliseconds, and after how many events that is looked at. */
const SLICE_MS = 1;
const EVENTS_BETWEEN = 16;

export interface TrafficEventsParts {
  subscribers: Pick<TrafficSubscribers, 'ofRequests' | 'ofConnections'>;
  buffer: Pick<EventBuffer, 'add'>;
  counters: TrafficCounters;
  /** `ev_…` */
  newEventId(): string;
  /** In [0, 1). */
  random(): number;
  /** The wall clock, in milliseconds. */
  time(): number;
  /** Called when an event cannot be written. */
  onFailure(error: unknown): void;
  /** Calls a function after so many milliseconds. @returns a function that cancels the call. */
  schedule?: Schedule;
}

/** A report that is not written yet, with those who subscribed when it came. */
interface Reported<T extends TrafficType> {
  type: T;
  report: ReportOf[T];
  subscribers: AccountSubscribers<T>;
  at: number;
}

export class TrafficEvents implements TrafficReporter {
  readonly #parts: TrafficEventsParts;
  readonly #schedule: Schedule;
  #reports: Reported<TrafficType>[] = [];
  /** How many of them are written. */
  #written = 0;
  #isScheduled = false;

  constructor(parts: TrafficEventsParts) {
    this.#parts = parts;
    this.#schedule = parts.schedule ?? scheduleByTimer;
  }

  wantsRequests(accountId: string): boolean {
    return this.#parts.subscribers.ofRequests(accountId) !== undefined;
  }

  wantsConnections(accountId: string): boolean {
    return this.#parts.subscribers.ofConnections(accountId) !== undefined;
  }

  request(report: RequestReport): void {
    this.#take('http_request_complete.v0', this.#parts.subscribers.ofRequests(report.accountId), report);
  }

  connection(report: ConnectionReport): void {
    this.#take('tcp_connection_closed.v0', this.#parts.subscribers.ofConnections(report.accountId), report);
  }

  /** Hands the events of all reports to the buffer. It has to be called before the buffer is flushed for the last time. */
  flush(): void {
    this.#write(Number.POSITIVE_INFINITY);
  }

  #take<T extends TrafficType>(type: T, subscribers: AccountSubscribers<T> | undefined, report: ReportOf[T]): void {
    if (!subscribers) return; // The last subscription was deleted meanwhile.
    const { counters, time } = this.#parts;
    counters.reported++;
    const reported: Reported<T> = { type, report, subscribers, at: time() };
    this.#reports.push(reported as unknown as Reported<TrafficType>);
    if (this.#reports.length >= REPORTS_MAX) this.flush();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#schedule(WRITE_MS, this.#writeSlice);
    }
  }

  readonly #writeSlice = (): void => {
    this.#isScheduled = !this.#write(performance.now() + SLICE_MS);
    if (this.#isScheduled) setImmediate(this.#writeSlice);
  };

  /** @param until when to stop, of `performance.now()`. @returns whether all are written. */
  #write(until: number): boolean {
    while (this.#written < this.#reports.length) {
      this.#record(this.#reports[this.#written++] as Reported<TrafficType>);
      if (this.#written % EVENTS_BETWEEN === 0 && performance.now() >= until) return false;
    }
    this.#reports = [];
    this.#written = 0;
    return true;
  }

  #record({ type, report, subscribers, at }: Reported<TrafficType>): void {
    const { buffer, counters, newEventId, random, onFailure } = this.#parts;
    try {
      const routes = subscribers.routesOf(report, random(), counters);
      if (routes.length === 0) return;
      const head = { id: newEventId(), type, at, accountId: report.accountId, principal: null };
      for (const { selection, destinationIds } of routes) {
        const text = writeEnvelope(head, selection.write(report));
        // Flattens the concatenated string: it is measured and encoded for each destination.
        text.charCodeAt(0);
        for (const id of destinationIds) buffer.add(id, text);
      }
    } catch (error) {
      onFailure(error);
    }
  }
}
