// What the gateway asks of the store: from which addresses accounts may be used.

import type { AddressRules } from '../modules/address-rules.ts';

/** What a restriction is about: the dashboard and signing in to it, the API with keys, agents, and visitors of all endpoints. */
export type RestrictionType = 'dashboard' | 'api' | 'agent' | 'endpoints';

/** An IP restriction of an account, with the rules of all its IP policies. */
export interface AccountRestriction extends AddressRules {
  accountId: string;
  type: RestrictionType;
  /** Whether others are refused; otherwise it is only logged that they would be. */
  isEnforced: boolean;
}

/** Where a node finds the restrictions of accounts. The store answers from the database, and to workers the control process. */
export interface RestrictionSource {
  /** @param accountIds those to look for, or null for all. @returns their restrictions; an account has one of each type at most. */
  load(accountIds: readonly string[] | null): Promise<AccountRestriction[]>;
  /**
   * Calls the listener with the accounts whose restrictions, or whose IP policies, have changed; null when any may have. Where the
   * change was made on this node, it is not answered before the promise is settled.
   * @returns the function that removes the listener.
   */
  onChange(listener: (accountIds: readonly string[] | null) => Promise<void>): () => void;
}
