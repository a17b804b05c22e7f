// What is written through the API, and how events call it.

import type { EventName, ObjectName } from '../events/types.ts';
import type { Action } from '../store/changes/changes.ts';

/** Every name of the catalogue has its kind: the compiler says where one is missing. */
const kinds = {
  api_key: 'apiKey',
  bot_user: 'botUser',
  certificate_authority: 'certificateAuthority',
  domain: 'reservedDomain',
  event_destination: 'eventDestination',
  event_subscription: 'eventSubscription',
  https_edge: 'httpsEdge',
  https_edge_route: 'httpsEdgeRoute',
  ip_policy: 'ipPolicy',
  ip_policy_rule: 'ipPolicyRule',
  tls_certificate: 'tlsCertificate',
  tls_edge: 'tlsEdge',
  tunnel_credential: 'credential',
  tunnel_group_backend: 'tunnelGroupBackend',
  user: 'user',
} as const satisfies Record<ObjectName, string>;

/** What `Context` writes: the compiler refuses a kind that has no name in the catalogue. */
export type AuditedKind = (typeof kinds)[ObjectName];

const names = new Map(Object.entries(kinds).map(([name, kind]) => [kind, name as ObjectName]));

export const auditedKinds: readonly AuditedKind[] = [...names.keys()];

/** The event that tells of a change: `domain_created.v0`. */
export function eventOf(kind: AuditedKind, action: Action): EventName {
  return `${names.get(kind) as ObjectName}_${action.toLowerCase() as Lowercase<Action>}.v0`;
}
