// Makes traffic events from the reports of the data plane.

import type { ConnectionReport, RequestReport, TrafficReporter } from '../../edge/reports/traffic-reports.ts';
import { writeEnvelope } from '../event.ts';
import type { AccountSubscribers } from './account-subscribers.ts';
import type { EventBuffer } from './buffer.ts';
import type { TrafficCounters } from './counters.ts';
import type { ReportOf, TrafficType } from './objects.ts';
import type { TrafficSubscribers } from './subscribers.ts';

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
}

export class TrafficEvents implements TrafficReporter {
  readonly #parts: TrafficEventsParts;

  constructor(parts: TrafficEventsParts) {
    this.#parts = parts;
  }

  wantsRequests(accountId: string): boolean {
    return this.#parts.subscribers.ofRequests(accountId) !== undefined;
  }

  wantsConnections(accountId: string): boolean {
    return this.#parts.subscribers.ofConnections(accountId) !== undefined;
  }

  request(report: RequestReport): void {
    this.#record('http_request_complete.v0', this.#parts.subscribers.ofRequests(report.accountId), report);
  }

  connection(report: ConnectionReport): void {
    this.#record('tcp_connection_closed.v0', this.#parts.subscribers.ofConnections(report.accountId), report);
  }

  #record<T extends TrafficType>(type: T, subscribers: AccountSubscribers<T> | undefined, report: ReportOf[T]): void {
    if (!subscribers) return; // The last subscription was deleted meanwhile.
    const { buffer, counters, newEventId, random, time } = this.#parts;
    counters.reported++;
    const routes = subscribers.routesOf(report, random(), counters);
    if (routes.length === 0) return;
    const head = { id: newEventId(), type, at: time(), accountId: report.accountId, principal: null };
    for (const { selection, destinationIds } of routes) {
      const text = writeEnvelope(head, selection.write(report));
      // Flattens the concatenated string: it is measured and encoded for each destination.
      text.charCodeAt(0);
      for (const id of destinationIds) buffer.add(id, text);
    }
  }
}
