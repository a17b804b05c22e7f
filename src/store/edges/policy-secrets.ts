// Secrets in the traffic policies of routes and TLS edges in the database. They are taken out of the text, encrypted, and bound to
// the row and to the text.

import type { StoredPolicy, TrafficPolicySettings } from '../../edge/modules/traffic-policy.ts';
import { secretPartOf, trafficPolicyModule } from '../../edge/modules/traffic-policy.ts';
import type { PolicySecret, SplitPolicy } from '../../policy/secrets/policy-secrets.ts';
import { splitPolicy } from '../../policy/secrets/policy-secrets.ts';
import type { Keys } from '../keys/keys.ts';
import { type SecretOwner, secretPlace } from './module-secrets.ts';

/** The protocol of the endpoints that the policies of a table are for. The secrets of TCP edges are at the same places as those of TLS. */
export const protocolOf = (table: SecretOwner['table']) => (table === 'route' ? 'https' : 'tls');

/** The settings of the module with their secrets encrypted, as they are stored. */
export function sealPolicy(keys: Keys, owner: SecretOwner, enabled: boolean, policy: SplitPolicy): StoredPolicy {
  const { value } = policy;
  const secrets = policy.secrets.map(({ path, ...secret }): PolicySecret => secret);
  if (secrets.length === 0) return { enabled, value, sealed: null };
  return { enabled, masked: value, sealed: keys.seal(JSON.stringify(secrets), placeOf(owner, value)) };
}

/** The secrets of a stored policy, for an update that keeps them. @throws when they were encrypted for another row or text. */
export function openSecrets(keys: Keys, owner: SecretOwner, stored: StoredPolicy): PolicySecret[] {
  if ('masked' in stored) return JSON.parse(keys.open(stored.sealed, placeOf(owner, stored.masked)));
  return stored.sealed === null ? [] : [...splitPolicy(stored.value, protocolOf(owner.table)).secrets];
}

/** The settings of the module with their secrets masked, as the API shows them. */
export function maskedPolicy(table: SecretOwner['table'], stored: StoredPolicy): TrafficPolicySettings {
  const { enabled } = stored;
  if ('masked' in stored) return { enabled, value: stored.masked };
  const isChecked = stored.sealed === null;
  return { enabled, value: isChecked ? stored.value : splitPolicy(stored.value, protocolOf(table)).value };
}

function placeOf(owner: SecretOwner, masked: string): string {
  return secretPlace(owner, trafficPolicyModule.key, secretPartOf(masked));
}
