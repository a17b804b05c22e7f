// The sources of one account that subscribe to one type of traffic event, prepared so that a report is matched quickly.

import type { TrafficCounters } from './counters.ts';
import type { TrafficFilter } from './filter.ts';
import type { ReportOf, TrafficType } from './objects.ts';
import type { Selection } from './selection.ts';

/** One source of a subscription. */
export interface SubscribedSource<T extends TrafficType> {
  /** Which share of the events the source gets: above 0, at most 1. */
  sampleRate: number;
  /** Undefined for all events. Equal filters are the same object. */
  filter: TrafficFilter<ReportOf[T]> | undefined;
  fields: readonly string[];
  destinationIds: readonly string[];
}

/** One serialization of an event, and the destinations that get it. */
export interface DeliveryRoute<T extends TrafficType> {
  selection: Selection<ReportOf[T]>;
  destinationIds: string[];
}

/** How many combinations of sources are cached. An account with many sources can have more than fit into memory. */
const COMBINATIONS_MAX = 1000;

export class AccountSubscribers<T extends TrafficType> {
  /** Sorted by filter, so that each filter is evaluated once per report. */
  readonly #sources: readonly SubscribedSource<T>[];
  readonly #select: (fields: readonly string[]) => Selection<ReportOf[T]>;
  readonly #routes = new Map<string, readonly DeliveryRoute<T>[]>();

  /** @param select returns the same selection for the same fields. */
  constructor(sources: readonly SubscribedSource<T>[], select: (fields: readonly string[]) => Selection<ReportOf[T]>) {
    const textOf = ({ filter }: SubscribedSource<T>) => filter?.text ?? '';
    this.#sources = sources.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : Number(textOf(a) > textOf(b))));
    this.#select = select;
  }

  /**
   * Where the event of a report goes. A destination gets it once, even when several sources lead there; the event then has all
   * fields that any of these sources selects.
   * @param randomValue in [0, 1), one for each report, so that a sample of a tenth is a part of a sample of a half.
   */
  routesOf(report: ReportOf[T], randomValue: number, counters: TrafficCounters): readonly DeliveryRoute<T>[] {
    let combination = '';
    let lastFilter: TrafficFilter<ReportOf[T]> | undefined;
    let lastResult: boolean | undefined;
    for (const { sampleRate, filter } of this.#sources) {
      const isSampled = randomValue < sampleRate;
      if (isSampled && filter && filter !== lastFilter) {
        lastFilter = filter;
        lastResult = filter.matches(report);
      }
      const isWanted = isSampled && (!filter || lastResult);
      combination += isWanted ? '1' : '0';
      if (!isSampled) counters.sampledOut++;
      else if (isWanted === undefined) counters.filterFailed++;
      else if (!isWanted) counters.filteredOut++;
    }
    return this.#routes.get(combination) ?? this.#cacheRoutes(combination);
  }

  #cacheRoutes(combination: string): readonly DeliveryRoute<T>[] {
    if (this.#routes.size === COMBINATIONS_MAX) this.#routes.clear();
    const routes = this.#makeRoutes(this.#sources.filter((_, index) => combination[index] === '1'));
    this.#routes.set(combination, routes);
    return routes;
  }

  #makeRoutes(sources: readonly SubscribedSource<T>[]): DeliveryRoute<T>[] {
    const fieldsOf = new Map<string, readonly string[]>();
    for (const { fields, destinationIds } of sources)
      for (const id of destinationIds) fieldsOf.set(id, union(fieldsOf.get(id), fields));
    const routes = new Map<Selection<ReportOf[T]>, DeliveryRoute<T>>();
    for (const [id, fields] of fieldsOf) {
      const selection = this.#select(fields);
      const route = routes.get(selection) ?? { selection, destinationIds: [] };
      route.destinationIds.push(id);
      routes.set(selection, route);
    }
    return [...routes.values()];
  }
}

/** The fields of both lists. An empty list means all fields. */
function union(some: readonly string[] | undefined, others: readonly string[]): readonly string[] {
  if (!some) return others;
  return some.length === 0 || others.length === 0 ? [] : [...some, ...others];
}
