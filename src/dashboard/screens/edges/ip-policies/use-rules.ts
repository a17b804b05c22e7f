// The rules of one policy. The API lists the rules of all policies together, so this reads all pages and filters them.

import { useEffect, useState } from 'preact/hooks';
import { type ApiFailure, execute, toApiFailure } from '../../../data/client/client.ts';
import { refreshOn } from '../../../data/live/refresh.ts';
import { type IpPolicyRuleRowFragment, IpPolicyRules } from '../../../generated/operations.ts';

const PAGE_SIZE = 100;
/** A policy has at most 1,000 rules. In an account with more than 5,000, the result may be incomplete. */
const MAX_PAGES = 50;

export type Rule = IpPolicyRuleRowFragment;

export interface RulesState {
  /** The rules, the newest first; undefined until they are loaded. */
  rules: readonly Rule[] | undefined;
  error: ApiFailure | undefined;
  /** Whether the account has so many rules that some may be missing. */
  isTruncated: boolean;
}

export function useRules(policyId: string): RulesState {
  const [state, setState] = useState<RulesState>({ rules: undefined, error: undefined, isTruncated: false });
  useEffect(() => {
    const unmounted = new AbortController();
    const { refreshNow, stop } = refreshOn({ kinds: ['ipPolicyRule'] }, fetchAndStore);
    void refreshNow();
    return () => {
      unmounted.abort();
      stop();
    };

    async function fetchAndStore(): Promise<void> {
      try {
        const { rules, isTruncated } = await fetchRules(policyId, unmounted.signal);
        if (!unmounted.signal.aborted) setState({ rules, error: undefined, isTruncated });
      } catch (thrown) {
        if (!unmounted.signal.aborted) setState((last) => ({ ...last, error: toApiFailure(thrown) }));
      }
    }
  }, [policyId]);
  return state;
}

async function fetchRules(policyId: string, signal: AbortSignal): Promise<{ rules: Rule[]; isTruncated: boolean }> {
  const rules: Rule[] = [];
  let after: string | null | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { ipPolicyRules } = await execute(IpPolicyRules, { first: PAGE_SIZE, after }, signal);
    rules.push(...(ipPolicyRules?.nodes ?? []).filter(({ ipPolicy }) => ipPolicy.id === policyId));
    if (!ipPolicyRules?.pageInfo.hasNextPage) return { rules, isTruncated: false };
    after = ipPolicyRules.pageInfo.endCursor;
  }
  return { rules, isTruncated: true };
}
