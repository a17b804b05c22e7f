// The subscribers to traffic events: the sources of all accounts, in memory, kept equal to the store.

import { ReloadQueue } from '../../edge/edges/reload-queue.ts';
import { AccountSubscribers, type SubscribedSource } from './account-subscribers.ts';
import type { TrafficFilter } from './filter.ts';
import type { ReportOf, TrafficObjects, TrafficType } from './objects.ts';
import type { ObjectShape } from './report-fields.ts';
import { Selection } from './selection.ts';
import type { TrafficSource, TrafficStore } from './store.ts';

export interface TrafficSubscribersParts {
  store: Pick<TrafficStore, 'sources' | 'onSourcesChange'>;
  objects: TrafficObjects;
  /** Called when sources cannot be loaded, and again only after loading has worked in between. */
  onFailure(error: unknown): void;
  /** How long to wait after a failure before the next attempt, in milliseconds. Default: 1 second. */
  retryMs?: number;
}

export class TrafficSubscribers {
  readonly #requests: SubscribersByAccount<'http_request_complete.v0'>;
  readonly #connections: SubscribersByAccount<'tcp_connection_closed.v0'>;
  readonly #reloads: ReloadQueue;
  readonly #stop: () => void;

  /** Loads the sources now, and again whenever they may have changed. Before the first load there are no subscribers. */
  constructor({ store, objects, onFailure, retryMs }: TrafficSubscribersParts) {
    this.#requests = new SubscribersByAccount('http_request_complete.v0', objects);
    this.#connections = new SubscribersByAccount('tcp_connection_closed.v0', objects);
    this.#reloads = new ReloadQueue({
      work: async () => this.#replaceSources(await store.sources()),
      onFailure,
      retryMs,
    });
    this.#stop = store.onSourcesChange(() => void this.refresh());
    void this.refresh();
  }

  /** The subscribers of an account; undefined when there are none. This is called for every request. */
  ofRequests(accountId: string): AccountSubscribers<'http_request_complete.v0'> | undefined {
    return this.#requests.of(accountId);
  }

  ofConnections(accountId: string): AccountSubscribers<'tcp_connection_closed.v0'> | undefined {
    return this.#connections.of(accountId);
  }

  /**
   * Loads the sources anew. The promise resolves once they are loaded as they were at this call or later. It never rejects:
   * loading is retried until it works, and until then the old sources stay in use.
   */
  refresh(): Promise<void> {
    return this.#reloads.ask(null);
  }

  close(): void {
    this.#stop();
    this.#reloads.close();
  }

  async #replaceSources(sources: readonly TrafficSource[]): Promise<void> {
    // The language of filters is loaded only when a source has a filter.
    const isFiltered = sources.some(({ filter }) => filter !== '');
    const filters = isFiltered ? await import('./filter.ts') : undefined;
    this.#requests.replaceSources(sources, filters);
    this.#connections.replaceSources(sources, filters);
  }
}

/** The subscribers to one type of event, by account. */
class SubscribersByAccount<T extends TrafficType> {
  readonly #type: T;
  readonly #shape: ObjectShape<ReportOf[T]>;
  readonly #filters = new GenerationCache<TrafficFilter<ReportOf[T]>>();
  readonly #selections = new GenerationCache<Selection<ReportOf[T]>>();
  #byAccount: ReadonlyMap<string, AccountSubscribers<T>> = new Map();

  constructor(type: T, objects: TrafficObjects) {
    this.#type = type;
    this.#shape = objects[type].shape;
  }

  of(accountId: string): AccountSubscribers<T> | undefined {
    return this.#byAccount.get(accountId);
  }

  /** @param filters the module of filters; undefined when no source has a filter. */
  replaceSources(sources: readonly TrafficSource[], filters: typeof import('./filter.ts') | undefined): void {
    const filterOf = (text: string) =>
      filters && text !== '' ? this.#filters.get(text, () => new filters.TrafficFilter(text, this.#shape)) : undefined;
    this.#filters.startGeneration();
    this.#selections.startGeneration();
    const byAccount = new Map<string, SubscribedSource<T>[]>();
    for (const source of sources) {
      if (source.type !== this.#type || source.destinationIds.length === 0) continue;
      const subscribed = { ...source, filter: filterOf(source.filter) };
      const known = byAccount.get(source.accountId);
      if (known) known.push(subscribed);
      else byAccount.set(source.accountId, [subscribed]);
    }
    this.#byAccount = new Map(Array.from(byAccount, ([id, list]) => [id, new AccountSubscribers(list, this.#select)]));
  }

  #select = (fields: readonly string[]): Selection<ReportOf[T]> => {
    const sorted = [...new Set(fields)].sort();
    return this.#selections.get(sorted.join(' '), () => new Selection(this.#shape, sorted));
  };
}

/**
 * A cache that keeps a value as long as each generation asks for it. What neither the current generation nor the one before it
 * asked for is dropped.
 */
class GenerationCache<T> {
  #current = new Map<string, T>();
  #previous = new Map<string, T>();

  get(key: string, make: () => T): T {
    let value = this.#current.get(key);
    if (value === undefined) {
      value = this.#previous.get(key) ?? make();
      this.#current.set(key, value);
    }
    return value;
  }

  /** Starts the next generation. */
  startGeneration(): void {
    this.#previous = this.#current;
    this.#current = new Map();
  }
}
