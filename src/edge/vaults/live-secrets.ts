// The secrets of all accounts, in the memory of a node: policies read them at every request.

import type { SecretReader } from '../../http/module.ts';
import { ReloadQueue } from '../edges/reload-queue.ts';
import type { AccountSecrets, SecretSource } from './secret-source.ts';

const NONE: AccountSecrets['vaults'] = new Map();

/** Follows the stored secrets. */
export class LiveSecrets implements SecretReader {
  readonly #source: SecretSource;
  readonly #reloads: ReloadQueue;
  readonly #accounts = new Map<string, AccountSecrets['vaults']>();
  #stop = () => {};

  /** @param onFailure called when secrets cannot be loaded: what was there goes on, and it is tried again until it works. */
  constructor(source: SecretSource, onFailure: (error: unknown) => void) {
    this.#source = source;
    this.#reloads = new ReloadQueue({ work: (accountIds) => this.#load(accountIds), onFailure });
  }

  /** Resolves when all are loaded; from then on their changes are followed. */
  start(): Promise<void> {
    this.#stop = this.#source.onChange((accountIds) => this.#reloads.ask(accountIds));
    return this.#reloads.ask(null);
  }

  /** Follows no changes any more. What is known stays so. */
  close(): void {
    this.#stop();
    this.#reloads.close();
  }

  of(accountId: string): AccountSecrets['vaults'] {
    return this.#accounts.get(accountId) ?? NONE;
  }

  async #load(accountIds: readonly string[] | null): Promise<void> {
    const loaded = await this.#source.load(accountIds);
    for (const accountId of accountIds ?? [...this.#accounts.keys()]) this.#accounts.delete(accountId);
    for (const { accountId, vaults } of loaded) this.#accounts.set(accountId, vaults);
  }
}
