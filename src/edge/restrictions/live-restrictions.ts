// The IP restrictions of all accounts, in the memory of a process: every request is checked against them.

import { ReloadQueue } from '../edges/reload-queue.ts';
import { AddressGate, type WouldBeRefusal } from './address-gate.ts';
import type { RestrictionSource, RestrictionType } from './restriction-source.ts';

type RestrictionListener = (accountIds: readonly string[] | null) => void;

export interface LiveRestrictionsOptions {
  source: RestrictionSource;
  /** Called when restrictions cannot be loaded: what was there goes on, and it is tried again until it works. */
  onFailure(error: unknown): void;
  /** Called for each that a restriction lets in only as it is not enforced. */
  onWouldRefuse(refusal: WouldBeRefusal): void;
}

/** Follows the stored restrictions. */
export class LiveRestrictions {
  readonly #options: LiveRestrictionsOptions;
  readonly #reloads: ReloadQueue;
  readonly #accounts = new Map<string, Map<RestrictionType, AddressGate>>();
  readonly #listeners = new Set<RestrictionListener>();
  #stop = () => {};

  constructor(options: LiveRestrictionsOptions) {
    const { onFailure } = options;
    this.#options = options;
    this.#reloads = new ReloadQueue({ work: (accountIds) => this.#load(accountIds), onFailure });
  }

  /** Resolves when all are loaded; from then on their changes are followed. */
  start(): Promise<void> {
    this.#stop = this.#options.source.onChange((accountIds) => this.#reloads.ask(accountIds));
    return this.#reloads.ask(null);
  }

  /** Follows no changes any more. What is known stays so. */
  close(): void {
    this.#stop();
    this.#reloads.close();
  }

  /** The restriction of a type; undefined where the account has none. */
  of(type: RestrictionType, accountId: string): AddressGate | undefined {
    return this.#accounts.get(accountId)?.get(type);
  }

  /** Loads the restrictions of an account anew. It never rejects, and waits for as long as they cannot be loaded. */
  refresh(accountId: string): Promise<void> {
    return this.#reloads.ask([accountId]);
  }

  /** Calls the listener once restrictions of accounts were loaded anew, null for all, until the returned function is called. */
  onChange(listener: RestrictionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #load(accountIds: readonly string[] | null): Promise<void> {
    const { source, onWouldRefuse } = this.#options;
    // All are made before one is replaced: what fails here leaves those of before, and not an open door.
    const loaded = new Map<string, Map<RestrictionType, AddressGate>>();
    for (const restriction of await source.load(accountIds)) {
      const { accountId, type } = restriction;
      const gates = loaded.get(accountId) ?? new Map<RestrictionType, AddressGate>();
      loaded.set(accountId, gates.set(type, new AddressGate(restriction, onWouldRefuse)));
    }
    for (const accountId of accountIds ?? [...this.#accounts.keys()]) this.#accounts.delete(accountId);
    for (const [accountId, gates] of loaded) this.#accounts.set(accountId, gates);
    for (const listener of this.#listeners) listener(accountIds);
  }
}
