// What the sources of one account want of one type of event, made ready for the moment when something is reported.

import type { TrafficCounters } from './counters.ts';
import type { Filter } from './filter.ts';
import type { ReportOf, TrafficType } from './objects.ts';
import type { Selection } from './selection.ts';

/** What one source wants. */
export interface SubscribedSource<T extends TrafficType> {
  /** Above 0, to 1: which share. */
  sampleRate: number;
  /** Undefined for all. The same one for equal filters. */
  filter: Filter<T> | undefined;
  fields: readonly string[];
  destinationIds: readonly string[];
}

/** What is written once, and where it goes. */
export interface DeliveryRoute<T extends TrafficType> {
  selection: Selection<ReportOf[T]>;
  destinationIds: string[];
}

/** How many combinations of sources are kept. An account with many sources may have more than can be. */
const COMBINATIONS_MAX = 1000;

export class AccountSubscribers<T extends TrafficType> {
  /** Those with the same filter lie together: it is asked once. */
  readonly #wishes: readonly SubscribedSource<T>[];
  readonly #select: (fields: readonly string[]) => Selection<ReportOf[T]>;
  readonly #routes = new Map<string, readonly DeliveryRoute<T>[]>();

  /** @param select gives the same selection for the same fields. */
  constructor(wishes: readonly SubscribedSource<T>[], select: (fields: readonly string[]) => Selection<ReportOf[T]>) {
    const textOf = ({ filter }: SubscribedSource<T>) => filter?.text ?? '';
    this.#wishes = wishes.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : Number(textOf(a) > textOf(b))));
    this.#select = select;
  }

  /**
   * Who gets the event of a report. A destination gets it once, also when several sources want it there: with all that any
   * of these selected.
   * @param lot in [0, 1), one for each report: what is in a tenth is in a half, too.
   */
  routesOf(report: ReportOf[T], lot: number, counters: TrafficCounters): readonly DeliveryRoute<T>[] {
    let combination = '';
    let asked: Filter<T> | undefined;
    let answer: boolean | undefined;
    for (const { sampleRate, filter } of this.#wishes) {
      const isChosen = lot < sampleRate;
      if (isChosen && filter && filter !== asked) {
        asked = filter;
        answer = filter.matches(report);
      }
      const isWanted = isChosen && (!filter || answer);
      combination += isWanted ? '1' : '0';
      if (!isChosen) counters.sampledOut++;
      else if (isWanted === undefined) counters.filterFailed++;
      else if (!isWanted) counters.filteredOut++;
    }
    return this.#routes.get(combination) ?? this.#keepRoutes(combination);
  }

  #keepRoutes(combination: string): readonly DeliveryRoute<T>[] {
    if (this.#routes.size === COMBINATIONS_MAX) this.#routes.clear();
    const routes = this.#makeRoutes(this.#wishes.filter((_, index) => combination[index] === '1'));
    this.#routes.set(combination, routes);
    return routes;
  }

  #makeRoutes(wishes: readonly SubscribedSource<T>[]): DeliveryRoute<T>[] {
    const fieldsOf = new Map<string, readonly string[]>();
    for (const { fields, destinationIds } of wishes)
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

/** None is all. */
function union(some: readonly string[] | undefined, others: readonly string[]): readonly string[] {
  if (!some) return others;
  return some.length === 0 || others.length === 0 ? [] : [...some, ...others];
}
