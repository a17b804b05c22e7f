// The rules of one policy. The API lists those of all policies together, so they are looked through page by page.

import { useEffect, useState } from 'preact/hooks';
import { type ApiFailure, execute, toApiFailure } from '../../../data/client/client.ts';
import { refreshOn } from '../../../data/live/refresh.ts';
import { type IpPolicyRuleRowFragment, IpPolicyRules } from '../../../generated/operations.ts';

const PAGE = 100;
/** A policy has at most 1,000 rules; an account with more than this of them is not looked through to its end. */
const PAGES_MAX = 50;

export type Rule = IpPolicyRuleRowFragment;

export interface RulesOf {
  /** The newest first; undefined as long as nothing is known. */
  rules: readonly Rule[] | undefined;
  error: ApiFailure | undefined;
  /** Whether there are so many rules that some may be missing. */
  isCut: boolean;
}

export function useRules(policyId: string): RulesOf {
  const [state, setState] = useState<RulesOf>({ rules: undefined, error: undefined, isCut: false });
  useEffect(() => {
    const gone = new AbortController();
    const { refreshNow: now, stop: end } = refreshOn({ kinds: ['ipPolicyRule'] }, ask);
    void now();
    return () => {
      gone.abort();
      end();
    };

    async function ask(): Promise<void> {
      try {
        const { rules, isCut } = await allOf(policyId, gone.signal);
        if (!gone.signal.aborted) setState({ rules, error: undefined, isCut });
      } catch (thrown) {
        if (!gone.signal.aborted) setState((last) => ({ ...last, error: toApiFailure(thrown) }));
      }
    }
  }, [policyId]);
  return state;
}

async function allOf(policyId: string, signal: AbortSignal): Promise<{ rules: Rule[]; isCut: boolean }> {
  const rules: Rule[] = [];
  let after: string | null | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { ipPolicyRules } = await execute(IpPolicyRules, { first: PAGE, after }, signal);
    rules.push(...(ipPolicyRules?.nodes ?? []).filter(({ ipPolicy }) => ipPolicy.id === policyId));
    if (!ipPolicyRules?.pageInfo.hasNextPage) return { rules, isCut: false };
    after = ipPolicyRules.pageInfo.endCursor;
  }
  return { rules, isCut: true };
}
