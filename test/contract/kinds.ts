// The kinds of object that random sequences of operations work on, with bodies right and wrong.
// In a body, `$bot:3` stands for the id of the fourth bot user, and `{side}` for a word that only one account uses.

import fc from 'fast-check';
import { type Operation, operation } from './doors.ts';
import { parts } from './rows/targets.ts';
import { edgeShapes, shapes } from './shapes.ts';

export interface Kind {
  shape: string;
  /** What the path names, by parameter: a kind. */
  place: Record<string, KindName>;
  operations: Partial<Record<'create' | 'get' | 'list' | 'update' | 'delete', Operation>>;
  body: fc.Arbitrary<object>;
  /** What to change, where that is not the same. */
  change?: fc.Arbitrary<object>;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function operations(path: string, single: string, plural: string, key: string, shape: string): Kind['operations'] {
  return {
    create: operation(`POST ${path}`, 201, `create${capital(single)}`, shape),
    get: operation(`GET ${path}/{id}`, 200, single, shape),
    list: operation(`GET ${path}`, 200, plural, shape, key),
    update: operation(`PATCH ${path}/{id}`, 200, `update${capital(single)}`, shape),
    delete: operation(`DELETE ${path}/{id}`, 204, `delete${capital(single)}`),
  };
}

const index = fc.constantFrom(0, 0, 0, 1, 1, 9);
/** An object of a kind, one that was deleted, or one that never was. */
const refTo = (kind: string) => index.map((at) => `$${kind}:${at}`);
const maybe = (members: Record<string, fc.Arbitrary<unknown>>, always: string[] = []) =>
  fc.record(members, { requiredKeys: always, noNullPrototype: true });
/** Nine times of ten the first. */
const mostly = (good: fc.Arbitrary<unknown>, ...bad: unknown[]) =>
  fc.oneof({ arbitrary: good, weight: 9 }, { arbitrary: fc.constantFrom(...bad), weight: 1 });

const text = mostly(fc.constantFrom('', 'a', 'Küche', 'é'.repeat(127), null), 'é'.repeat(128), 'a\0', 'a\ud800', 5);
const texts = {
  description: text,
  metadata: mostly(fc.constantFrom('', '{"a":1}', 'é'.repeat(2048)), 'é'.repeat(2049)),
};
const acl = fc.array(mostly(fc.constantFrom('*', 'bind:a.example.com', 'bind:*=x'), 'bind:', '', null), {
  maxLength: 3,
});
const hostports = fc.array(
  mostly(fc.constantFrom('a.{side}.example.com:443', 'b.{side}.example.com:443'), 'a.{side}.example.com:80', 'x'),
  { maxLength: 2 },
);
const cidr = mostly(fc.constantFrom('10.0.0.0/8', '2001:DB8::/32', '::/0'), '10.0.0.1/8', '10.0.0.1', 'x', '', null);
const count = mostly(fc.constantFrom(1, 7, 128), 0, 129, 4294967295, 4294967296, -1, '5');
const breaker = maybe({
  enabled: mostly(fc.boolean(), 'true', null),
  tripped_duration: count,
  num_buckets: count,
  volume_threshold: count,
  error_threshold_percentage: mostly(fc.constantFrom(0, 0.3, 1, null), 1.01, '1'),
});
const backendModule = maybe({ enabled: fc.boolean(), backend_id: refTo('backend') });
const target = mostly(
  fc.constantFrom<unknown[]>(
    { datadog: parts.datadog },
    { datadog: { ...parts.datadog, api_key: null } },
    { datadog: { api_key: 'other', ddsite: 'datadoghq.com' } },
    { kinesis: { auth: parts.creds, ...parts.stream } },
    { azure_logs_ingestion: parts.azure },
  ),
  { firehose: { auth: { ...parts.role, ...parts.creds }, ...parts.deliveryStream } },
  { datadog: parts.datadog, kinesis: {} },
  {},
);

const routePath = '/edges/https/{edge_id}/routes';
const { list: _, ...routeOperations } = operations(routePath, 'httpsEdgeRoute', '', '', edgeShapes.route);
const breakerPath = `${routePath}/{id}/circuit_breaker`;

export type KindName =
  | 'credential'
  | 'bot'
  | 'domain'
  | 'backend'
  | 'destination'
  | 'ipPolicy'
  | 'ipPolicyRule'
  | 'vault'
  | 'secret'
  | 'httpsEdge'
  | 'route'
  | 'breaker';

const name = mostly(fc.constantFrom('a', 'b', 'c'), '', ' a', 'a\nb', 'é'.repeat(128), null);
const value = mostly(fc.constantFrom('open sesame', 'x'), '', 'é'.repeat(4097), null);

const one = { id: 'credential' } as const;

export const kinds: Record<KindName, Kind> = {
  credential: {
    shape: shapes.credential,
    place: one,
    operations: operations('/credentials', 'credential', 'credentials', 'credentials', shapes.credential),
    body: maybe({ ...texts, acl, owner_id: refTo('bot') }),
    change: maybe({ ...texts, acl }),
  },
  bot: {
    shape: shapes.bot,
    place: { id: 'bot' },
    operations: operations('/bot_users', 'botUser', 'botUsers', 'bot_users', shapes.bot),
    body: maybe({ name: mostly(fc.constantFrom('a', 'b', 'c'), '', 'é'.repeat(128), null), active: fc.boolean() }, [
      'name',
    ]),
  },
  domain: {
    shape: shapes.domain,
    place: { id: 'domain' },
    operations: operations('/reserved_domains', 'reservedDomain', 'reservedDomains', 'reserved_domains', shapes.domain),
    body: maybe(
      {
        domain: mostly(
          fc.constantFrom('a.{side}.example.com', '*.{side}.example.com'),
          'x',
          'a..b',
          'tunnel.localhost',
        ),
        region: mostly(fc.constantFrom('', 'us'), 'ü'),
        ...texts,
      },
      ['domain'],
    ),
    change: maybe(texts),
  },
  backend: {
    shape: shapes.backend,
    place: { id: 'backend' },
    operations: operations(
      '/backends/tunnel_group',
      'tunnelGroupBackend',
      'tunnelGroupBackends',
      'backends',
      shapes.backend,
    ),
    body: maybe({ ...texts, labels: mostly(fc.constantFrom({ app: 'x' }, { some_word: 'aB' }), {}, { a: 5 }, 'a=b') }, [
      'labels',
    ]),
  },
  destination: {
    shape: shapes.destination,
    place: { id: 'destination' },
    operations: operations(
      ...(['/event_destinations', 'eventDestination', 'eventDestinations', 'event_destinations'] as const),
      shapes.destination,
    ),
    body: maybe({ ...texts, target, format: mostly(fc.constant('json'), 'xml') }, ['target']),
  },
  ipPolicy: {
    shape: shapes.ipPolicy,
    place: { id: 'ipPolicy' },
    operations: operations('/ip_policies', 'ipPolicy', 'ipPolicies', 'ip_policies', shapes.ipPolicy),
    body: maybe(texts),
  },
  ipPolicyRule: {
    shape: shapes.ipPolicyRule,
    place: { id: 'ipPolicyRule' },
    operations: operations(
      ...(['/ip_policy_rules', 'ipPolicyRule', 'ipPolicyRules', 'ip_policy_rules'] as const),
      shapes.ipPolicyRule,
    ),
    body: maybe(
      { ...texts, cidr, ip_policy_id: refTo('ipPolicy'), action: mostly(fc.constantFrom('allow', 'deny'), 'x') },
      [...['cidr', 'ip_policy_id', 'action']],
    ),
    change: maybe({ ...texts, cidr }),
  },
  vault: {
    shape: shapes.vault,
    place: { id: 'vault' },
    operations: operations('/vaults', 'vault', 'vaults', 'vaults', shapes.vault),
    body: maybe({ ...texts, name }, ['name']),
    change: maybe({ ...texts, name }),
  },
  secret: {
    shape: shapes.secret,
    place: { id: 'secret' },
    operations: operations('/vault_secrets', 'secret', 'secrets', 'secrets', shapes.secret),
    body: maybe({ ...texts, name, value, vault_id: refTo('vault') }, ['name', 'value', 'vault_id']),
    change: maybe({ ...texts, name, value }),
  },
  httpsEdge: {
    shape: edgeShapes.httpsEdge,
    place: { id: 'httpsEdge' },
    operations: operations('/edges/https', 'httpsEdge', 'httpsEdges', 'https_edges', edgeShapes.httpsEdge),
    body: maybe({ ...texts, hostports }),
  },
  route: {
    shape: edgeShapes.route,
    place: { edge_id: 'httpsEdge', id: 'route' },
    operations: routeOperations,
    body: maybe(
      {
        match_type: mostly(fc.constantFrom('path_prefix', 'exact_path'), 'regex'),
        match: mostly(fc.constantFrom('/', '/a'), 'a', ''),
        backend: backendModule,
        circuit_breaker: breaker,
      },
      ['match', 'match_type'],
    ),
  },
  breaker: {
    shape: shapes.circuitBreaker,
    place: { edge_id: 'httpsEdge', id: 'route' },
    operations: {
      get: operation(`GET ${breakerPath}`, 200, 'httpsEdgeRouteCircuitBreaker', shapes.circuitBreaker),
      update: operation(`PUT ${breakerPath}`, 200, 'replaceHttpsEdgeRouteCircuitBreaker', shapes.circuitBreaker),
      delete: operation(`DELETE ${breakerPath}`, 204, 'deleteHttpsEdgeRouteCircuitBreaker'),
    },
    body: breaker,
  },
};

/** Kinds that have to do with each other: a sequence is about one such group. */
export const groups: KindName[][] = [
  ['bot', 'credential'],
  ['domain', 'httpsEdge'],
  ['httpsEdge', 'route', 'breaker'],
  ['httpsEdge', 'route', 'backend'],
  ['destination'],
  ['ipPolicy', 'ipPolicyRule'],
  ['vault', 'secret'],
];
