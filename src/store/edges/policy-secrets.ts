// Secrets in the traffic policies of routes and TLS edges, as the database holds them: out of the text, encrypted, and bound
// to the row and to the text.

import { createHash } from 'node:crypto';
import type { TrafficPolicySettings } from '../../edge/modules/settings.ts';
import { joinPolicy, type PolicySecret, type SplitPolicy, splitPolicy } from '../../policy/secrets/policy-secrets.ts';
import type { Keys } from '../keys/keys.ts';

/** The row that a policy belongs to. */
export interface PolicyOwner {
  table: 'route' | 'edge';
  id: string;
  accountId: string;
}

/** The module as a row has it. */
export type StoredPolicy = PlainPolicy | SealedPolicy;

interface PlainPolicy extends TrafficPolicySettings {
  /** Null: it has no secrets. Missing: a version that sealed none has written it. */
  sealed?: null;
}

interface SealedPolicy {
  enabled: boolean;
  /** The document, with masks. Not `value`: such a version would take a mask for the password, and let visitors in with it. */
  masked: string;
  /** The secrets. */
  sealed: string;
}

/** What kind of endpoint the policies of a table are for. */
export const protocolOf = (table: PolicyOwner['table']) => (table === 'route' ? 'https' : 'tls');

/** The module as the database takes it. */
export function sealPolicy(keys: Keys, owner: PolicyOwner, enabled: boolean, policy: SplitPolicy): StoredPolicy {
  const { value } = policy;
  const secrets = policy.secrets.map(({ path, ...secret }): PolicySecret => secret);
  if (secrets.length === 0) return { enabled, value, sealed: null };
  return { enabled, masked: value, sealed: keys.seal(JSON.stringify(secrets), placeOf(owner, value)) };
}

/** What nobody may see of a policy, for another that keeps it. Throws when it belongs elsewhere. */
export function openSecrets(keys: Keys, owner: PolicyOwner, stored: StoredPolicy): PolicySecret[] {
  if ('masked' in stored) return JSON.parse(keys.open(stored.sealed, placeOf(owner, stored.masked)));
  return stored.sealed === null ? [] : [...splitPolicy(stored.value, protocolOf(owner.table)).secrets];
}

/** The module with its secrets in clear: for whoever acts on traffic, never for an answer. Throws when it belongs elsewhere. */
export function openPolicy(keys: Keys, owner: PolicyOwner, stored: StoredPolicy): TrafficPolicySettings {
  const { enabled } = stored;
  if (!('masked' in stored)) return { enabled, value: stored.value };
  return { enabled, value: joinPolicy({ value: stored.masked, secrets: openSecrets(keys, owner, stored) }) };
}

/** The module as anybody may see it. */
export function maskedPolicy(table: PolicyOwner['table'], stored: StoredPolicy): TrafficPolicySettings {
  const { enabled } = stored;
  if ('masked' in stored) return { enabled, value: stored.masked };
  const isChecked = stored.sealed === null;
  return { enabled, value: isChecked ? stored.value : splitPolicy(stored.value, protocolOf(table)).value };
}

/** The same under the key of now, where it has secrets. */
export function sealPolicyAnew(keys: Keys, owner: PolicyOwner, stored: StoredPolicy): StoredPolicy {
  if (!('masked' in stored)) return stored;
  const place = placeOf(owner, stored.masked);
  return { ...stored, sealed: keys.seal(keys.open(stored.sealed, place), place) };
}

/** In another text, a secret would come to stand where it can be read. */
function placeOf({ table, id, accountId }: PolicyOwner, masked: string): string {
  const digest = createHash('sha256').update(masked).digest('base64url');
  return `${table}:${accountId}:${id}:trafficPolicy:${digest}`;
}
