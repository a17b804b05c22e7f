// What the data plane asks of the store: the secrets that policies read.

/** The secrets of one account. */
export interface AccountSecrets {
  accountId: string;
  /** Their values, by the names of their vaults and their own. */
  vaults: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Where a node finds the secrets of accounts. The store answers from the database, and to workers the control process. */
export interface SecretSource {
  /** @param accountIds those to look for, or null for all. @returns those of them that have secrets. */
  load(accountIds: readonly string[] | null): Promise<AccountSecrets[]>;
  /**
   * Calls the listener with the accounts whose vaults or secrets have changed; null when any may have. Where the change was made on
   * this node, it is not answered before the promise is settled.
   * @returns the function that removes the listener.
   */
  onChange(listener: (accountIds: readonly string[] | null) => Promise<void>): () => void;
}
