// A stored traffic policy in the shape of 2024: two lists of rules.

import type { TrafficPolicySettings } from '../../edge/modules/traffic-policy.ts';
import { readPolicyDocument } from '../../policy/settings/policy-text.ts';

export interface LegacyRule {
  /** Empty when it has none. */
  name: string;
  expressions: string[];
  actions: { type: string; config: object | null }[];
}

export interface LegacyPolicy {
  enabled: boolean;
  inbound: LegacyRule[];
  outbound: LegacyRule[];
}

/** A document as it was checked before it was stored. */
type Document = { enabled?: boolean } & Partial<Record<keyof typeof sideOfPhase, StoredRule[]>>;

interface StoredRule {
  name?: string;
  expressions?: string[];
  actions: { type: string; config?: object | null }[];
}

/** Which side the rules of a phase are on. Its host has either requests or connections, never both. */
const sideOfPhase = {
  inbound: 'inbound',
  on_tcp_connect: 'inbound',
  on_http_request: 'inbound',
  outbound: 'outbound',
  on_http_response: 'outbound',
} as const;

/** @returns null when it is not set. */
export function legacyPolicyOf(stored: TrafficPolicySettings | null): LegacyPolicy | null {
  if (!stored) return null;
  const { enabled = true, ...phases } = readPolicyDocument(stored.value) as Document;
  const policy: LegacyPolicy = { enabled: stored.enabled && enabled, inbound: [], outbound: [] };
  for (const [phase, rules] of Object.entries(phases))
    for (const { name = '', expressions = [], actions } of rules)
      policy[sideOfPhase[phase as keyof typeof sideOfPhase]].push({
        name,
        expressions,
        actions: actions.map(({ type, config = null }) => ({ type, config })),
      });
  return policy;
}
