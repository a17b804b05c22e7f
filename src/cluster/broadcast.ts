// Tells all other nodes, or those of this machine, what happens here. What happens within a short time goes together.

import type { ClusterAccess } from './cluster-query.ts';

/** The most items of one message; with so many it is sent at once. Each has some hundred bytes at most. */
const ITEMS_MAX = 1000;

export interface BroadcastOptions<T> {
  /** The name of the call, which is registered here. */
  method: string;
  /** How long items wait for others, in milliseconds. */
  batchMs: number;
  /** Whether it is for the other workers of this machine only. */
  isOfMachine?: boolean;
  /** Called with what other nodes tell. */
  onItem(item: T): void;
}

interface Message<T> {
  items: T[];
}

export class Broadcast<T> {
  readonly #cluster: ClusterAccess;
  readonly #options: BroadcastOptions<T>;
  #waiting: T[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(cluster: ClusterAccess, options: BroadcastOptions<T>) {
    this.#cluster = cluster;
    this.#options = options;
    cluster.methods.set(options.method, async (body) => {
      for (const item of (body as Message<T>).items) options.onItem(item);
      return {};
    });
  }

  /** Tells the others of an item. Whoever cannot be reached within a second does not learn of it. */
  send(item: T): void {
    if (this.#waiting.push(item) >= ITEMS_MAX) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), this.#options.batchMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const message: Message<T> = { items: this.#waiting };
    this.#waiting = [];
    const { calls } = this.#cluster;
    void (this.#options.isOfMachine
      ? calls.callMachine(this.#options.method, message)
      : calls.callAll(this.#options.method, message));
  }
}
