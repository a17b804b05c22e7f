// A view of the change feed whose listeners end together.

import { Changes } from './changes.ts';

export class ScopedChanges extends Changes {
  readonly #all: Changes;
  readonly #stops: (() => void)[] = [];

  constructor(all: Changes) {
    super();
    this.#all = all;
  }

  override listen(...args: Parameters<Changes['listen']>): () => void {
    return this.#keep(this.#all.listen(...args));
  }

  override follow(...args: Parameters<Changes['follow']>): () => void {
    return this.#keep(this.#all.follow(...args));
  }

  override onGap(...args: Parameters<Changes['onGap']>): () => void {
    return this.#keep(this.#all.onGap(...args));
  }

  override get gaps(): number {
    return this.#all.gaps;
  }

  override publishHints(...args: Parameters<Changes['publishHints']>): Promise<void> {
    return this.#all.publishHints(...args);
  }

  override transaction<T>(
    prisma: Parameters<Changes['transaction']>[0],
    work: (...args: Parameters<Parameters<Changes['transaction']>[1]>) => Promise<T>,
  ): Promise<T> {
    return this.#all.transaction(prisma, work);
  }

  /** Ends all listeners of this view. */
  end(): void {
    for (const stop of this.#stops) stop();
  }

  #keep(stop: () => void): () => void {
    this.#stops.push(stop);
    return stop;
  }
}
