// Who wants to hear of traffic: the sources of all accounts, in memory, as they are in the store.

import { ReloadQueue } from '../../edge/edges/reload-queue.ts';
import { AccountSubscribers, type SubscribedSource } from './account-subscribers.ts';
import type { Filter } from './filter.ts';
import { GenerationCache } from './generation-cache.ts';
import { objectShapes, type ReportOf, type TrafficType } from './objects.ts';
import { Selection } from './selection.ts';
import type { TrafficSource, TrafficStore } from './store.ts';

export interface TrafficSubscribersParts {
  store: Pick<TrafficStore, 'sources' | 'onSourcesChange'>;
  /** Told when sources cannot be loaded, but not again before it has worked in between. */
  onFailure(error: unknown): void;
  /** How long to wait before what failed is tried again; milliseconds. 1 s unless told. */
  retryMs?: number;
}

export class TrafficSubscribers {
  readonly #requests = new SubscribersByAccount('http_request_complete.v0');
  readonly #connections = new SubscribersByAccount('tcp_connection_closed.v0');
  readonly #reloads: ReloadQueue;
  readonly #stop: () => void;

  /** Loads the sources, and again whenever they may have changed; nobody hears before it has them. */
  constructor({ store, onFailure, retryMs }: TrafficSubscribersParts) {
    this.#reloads = new ReloadQueue({ work: async () => this.#take(await store.sources()), onFailure, retryMs });
    this.#stop = store.onSourcesChange(() => void this.refresh());
    void this.refresh();
  }

  /** Of an account, undefined when nobody listens. Looked up for every request. */
  ofRequests(accountId: string): AccountSubscribers<'http_request_complete.v0'> | undefined {
    return this.#requests.of(accountId);
  }

  ofConnections(accountId: string): AccountSubscribers<'tcp_connection_closed.v0'> | undefined {
    return this.#connections.of(accountId);
  }

  /**
   * @returns what settles once the sources are known as they were at this call or later. Never rejects: it is tried until
   * it works, and until then the old ones hold.
   */
  refresh(): Promise<void> {
    return this.#reloads.ask(null);
  }

  close(): void {
    this.#stop();
    this.#reloads.close();
  }

  async #take(sources: readonly TrafficSource[]): Promise<void> {
    // The language of filters is loaded only where there is a filter.
    const isFiltered = sources.some(({ filter }) => filter !== '');
    const filters = isFiltered ? await import('./filter.ts') : undefined;
    this.#requests.take(sources, filters);
    this.#connections.take(sources, filters);
  }
}

/** Who listens to one type of event. */
class SubscribersByAccount<T extends TrafficType> {
  readonly #type: T;
  readonly #filters = new GenerationCache<Filter<T>>();
  readonly #selections = new GenerationCache<Selection<ReportOf[T]>>();
  #byAccount: ReadonlyMap<string, AccountSubscribers<T>> = new Map();

  constructor(type: T) {
    this.#type = type;
  }

  of(accountId: string): AccountSubscribers<T> | undefined {
    return this.#byAccount.get(accountId);
  }

  /** @param filters is there when a source has a filter. */
  take(sources: readonly TrafficSource[], filters: typeof import('./filter.ts') | undefined): void {
    const filterOf = (text: string) =>
      filters && text !== '' ? this.#filters.get(text, () => new filters.Filter(text, this.#type)) : undefined;
    this.#filters.turn();
    this.#selections.turn();
    const wishes = new Map<string, SubscribedSource<T>[]>();
    for (const source of sources) {
      if (source.type !== this.#type || source.destinationIds.length === 0) continue;
      const wish = { ...source, filter: filterOf(source.filter) };
      const others = wishes.get(source.accountId);
      if (others) others.push(wish);
      else wishes.set(source.accountId, [wish]);
    }
    this.#byAccount = new Map(Array.from(wishes, ([id, list]) => [id, new AccountSubscribers(list, this.#select)]));
  }

  #select = (fields: readonly string[]): Selection<ReportOf[T]> => {
    const sorted = [...new Set(fields)].sort();
    return this.#selections.get(sorted.join(' '), () => new Selection(objectShapes[this.#type], sorted));
  };
}
