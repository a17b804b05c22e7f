// Lists of many rows, and everything that they can be filtered and ordered by.

import { randomBytes } from 'node:crypto';
import type { Collection } from '../../src/api/collections/collection.ts';
import type { FilterMember } from '../../src/api/collections/members.ts';
import { registeredResources } from '../../src/api/collections/nodes.ts';
import { snakeCase } from '../../src/api/naming.ts';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';

/** Every kind of object that has a list. Complete once a gateway has started. */
export function allLists(): Collection[] {
  return registeredResources().filter((resource): resource is Collection => 'plural' in resource);
}

/** The name of a list's table. */
export function tableNameOf({ table }: Collection): string {
  const names = new Proxy({}, { get: (_, name) => name });
  return snakeCase(table(names as never) as string);
}

const NOTES = { description: `'unit ' || i % 1000`, metadata: `'{"site":"' || i % 50 || '"}'` };
const AGES = { created_at: `now() - i * interval '1 second'` };
const CERTIFICATE = {
  ...{ key_usages: `'{}'`, extended_key_usages: `'{}'` },
  ...{ not_before: 'now()', not_after: `now() + i * interval '1 hour'` },
};

const ALERT = { name: `'a' || i`, condition: `'BACKLOG'`, severity: `'INFO'` };

const CHANGED = { created_by: '$owner', last_updated_by: '$owner', updated_at: 'now()' };

const SEEN = { last_active_at: `now() - i * interval '1 second'` };

/** SQL for the columns of each table: `i` is the number of the row, `$account` and others are what rows refer to. */
const COLUMNS: Record<string, Record<string, string>> = {
  owner: {
    kind: `CASE WHEN i % 2 = 0 THEN 'USER' ELSE 'BOT' END::"OwnerKind"`,
    subject: `'u' || i || '@a.example'`,
    role: `'MEMBER'`,
    ...AGES,
  },
  api_key: {
    ...{ ...NOTES, ...AGES, owner_id: '$owner', digest: '$id' },
    last_used_at: `CASE WHEN i % 2 = 0 THEN now() - i * interval '1 minute' END`,
  },
  credential: { ...NOTES, ...AGES, owner_id: '$owner', digest: '$id', acl: `ARRAY['bind:' || i || '.a.example']` },
  reserved_domain: { ...NOTES, ...AGES, domain: `'d' || i || '.$tag.example'` },
  kubernetes_operator: { ...NOTES, ...AGES, created_by: '$owner' },
  agent_ingress: { ...NOTES, ...AGES, domain_id: `'rd_0$tag' || lpad(i::text, 14, '0')` },
  reserved_address: {
    ...{ ...NOTES, ...AGES, addr: `'$tag.example:' || i` },
    port: '(SELECT coalesce(max(port), 70000) FROM reserved_address) + i',
  },
  tls_certificate: {
    ...{ ...NOTES, ...AGES, ...CERTIFICATE, certificate_pem: `''`, private_key: `''`, private_key_type: `'ecdsa'` },
    ...{ subject: `jsonb_build_object('commonName', 'c' || i)`, dns_names: `ARRAY['c' || i]`, ips: `'{}'` },
    ...{ issuer_common_name: `'x'`, serial_number: 'i::text' },
  },
  certificate_authority: { ...NOTES, ...AGES, ...CERTIFICATE, ca_pem: `''`, subject_common_name: `'c' || i` },
  ip_policy: { ...NOTES, ...AGES },
  ip_policy_rule: { ...NOTES, ...AGES, policy_id: '$policy', cidr: `i || '.0.0.0/32'`, action: `'ALLOW'` },
  account_ip_restriction: {
    ...{ ...NOTES, ...AGES },
    type: `(ARRAY['DASHBOARD', 'API', 'AGENT', 'ENDPOINTS'])[i]::"IpRestrictionType"`,
  },
  vault: { ...NOTES, ...AGES, ...CHANGED, name: `'v' || i` },
  secret: { ...NOTES, ...AGES, ...CHANGED, vault_id: '$vault', name: `'s' || i`, value: `''` },
  app_user: { ...AGES, issuer: `'https://id.example.com'`, subject: 'i::text', ...SEEN, last_login_at: 'now()' },
  app_session: {
    ...{ ...AGES, ...SEEN, user_id: '$visitor', digest: '$id', site: `'a'`, terms: `''`, sealed: `''` },
    ...{ endpoint_id: `'ep_' || i`, public_url: `'https://e' || i`, checked_at: 'now()' },
    ...{ idle_ends_at: `now() + interval '1 day'`, expires_at: `now() + interval '1 day'` },
  },
  edge: { ...NOTES, ...AGES, kind: `(ARRAY['HTTPS', 'TLS', 'TCP'])[1 + i % 3]::"EdgeKind"` },
  backend: {
    ...{ ...NOTES, ...AGES, response: `'{"statusCode":200,"headers":{},"body":"x"}'` },
    kind: `(ARRAY['TUNNEL_GROUP', 'WEIGHTED', 'FAILOVER', 'HTTP_RESPONSE', 'FAILOVER'])[1 + i % 5]::"BackendKind"`,
    ...{
      address: `CASE WHEN i % 5 = 4 THEN 's' || i || '.example.com:443' END`,
      tls: `CASE WHEN i % 5 = 4 THEN true END`,
    },
    labels: `jsonb_build_object('site', 's' || i % 50)`,
  },
  event_destination: { ...NOTES, ...AGES, format: `'json'`, target: `'{}'` },
  event_subscription: { ...NOTES, ...AGES },
  tunnel_session: {
    ...{ node_id: '$node', client_id: 'i::text', agent_version: `'1.' || i % 7`, os: `'linux'` },
    ...{ ip: `'10.0.' || i / 250 || '.' || i % 250`, started_at: AGES.created_at },
  },
  tunnel: { session_id: '$session', public_url: `'https://t' || i`, proto: `'https'`, started_at: AGES.created_at },
  endpoint: {
    ...{ node_id: '$node', type: `'EPHEMERAL'`, proto: `'https'`, public_url: `'https://e' || i` },
    ...{ hostport: `'e' || i || ':443'`, ...AGES },
  },
  offline_endpoint: {
    ...{ address: `'http:o' || i`, proto: `'https'`, public_url: `'https://o' || i`, hostport: `'o' || i || ':443'` },
    ...{ online_at: 'now()', offline_at: AGES.created_at },
  },
  agent: {
    ...{
      identity: '$id',
      name: `'device ' || i`,
      version: `'1.' || i % 7`,
      ip: `'10.0.' || i / 250 || '.' || i % 250`,
    },
    ...{ labels: `jsonb_build_object('site', 's' || i % 50)`, last_seen_at: AGES.created_at },
  },
  provisioning_key: {
    ...{ ...NOTES, ...AGES, owner_id: '$owner', digest: '$id', acl: `'{}'` },
    last_used_at: `CASE WHEN i % 2 = 0 THEN now() END`,
  },
  alert: { ...ALERT, state: `'RESOLVED'`, since: 'now()', fired_at: 'now()', subject_count: '1' },
  alert_rule: { ...ALERT, ...AGES, for_seconds: '60', resolve_seconds: '60', update_minutes: '60' },
  alert_channel: { ...AGES, name: `'c' || i`, kind: `'EVENTS'` },
  bulk_job: {
    ...{ ...AGES, list: `'credentials'`, kind: `'credential'`, action: `'DELETE'`, state: `'SUCCEEDED'` },
    ...{ actor_id: '$owner', actor_subject: `'u'`, finished_at: 'now()' },
  },
  alert_silence: { ...AGES, until: 'now()', reason: `'r' || i` },
};

/** Of tables with several kinds of object, which take turns. */
const PREFIXES: Record<string, string[]> = {
  edge: ['edghts', 'edgtls', 'edgtcp'],
  backend: ['bkdtg', 'bkdwd', 'bkdfo', 'bkdhr', 'bkdsc'],
  owner: ['usr', 'bot'],
};

/** How many rows of a list an account may have. */
export const rowsMaxOf = (list: Collection) => (tableNameOf(list) === 'account_ip_restriction' ? 4 : Infinity);

/** Rows of one statement: the embedded database has half a minute for each, on a busy machine, too. */
const BATCH = 5000;

/**
 * Adds so many rows to each list of an account.
 * @param nodeId which node has the live ones; the gateway's own when left out.
 */
export async function fillLists(
  { app: { prisma } }: Pick<TestGateway, 'app'>,
  account: Account,
  rows: number,
  nodeId?: string,
): Promise<void> {
  const tag = randomBytes(6).toString('hex');
  const node = nodeId ?? (await prisma.node.findFirstOrThrow({ orderBy: { leaseUntil: 'desc' } })).id;
  const firstOf = (prefix: string) => `${prefix}_0${tag}${'1'.padStart(14, '0')}`;
  const known: Record<string, string> = {
    ...{ account: `'${account.accountId}'`, owner: `'${account.ownerId}'`, node: `'${node}'`, tag },
    ...{
      policy: `'${firstOf('ipp')}'`,
      vault: `'${firstOf('vault')}'`,
      visitor: `'${firstOf('appu')}'`,
      session: `'${firstOf('ts')}'`,
    },
  };
  const filled = new Set<string>();
  for (const list of allLists().sort((a, b) => order(a) - order(b))) {
    const table = tableNameOf(list);
    const columns = COLUMNS[table];
    if (!columns) throw new Error(`test/lists/many-rows.ts has no columns for the table ${table}`);
    if (filled.has(table)) continue;
    filled.add(table);
    const prefixes = PREFIXES[table] ?? [list.prefix];
    const all: Record<string, string> = {
      id: `(ARRAY['${prefixes.join("', '")}'])[1 + i % ${prefixes.length}] || '_0${tag}' || lpad(i::text, 14, '0')`,
      account_id: '$account',
      ...columns,
    };
    const values = Object.values(all).map((sql) =>
      sql.replace(/\$(\w+)/g, (_, name) => known[name] ?? all[name] ?? ''),
    );
    const insertion = `INSERT INTO "${table}" ("${Object.keys(all).join('", "')}") SELECT ${values.join(', ')}`;
    const count = Math.min(rows, rowsMaxOf(list));
    for (let from = 1; from <= count; from += BATCH)
      await prisma.$executeRawUnsafe(
        `${insertion} FROM generate_series(${from}, ${Math.min(count, from + BATCH - 1)}) i`,
      );
    await prisma.$executeRawUnsafe(`ANALYZE "${table}"`);
  }
}

/** What others refer to comes first. */
const order = (list: Collection) =>
  Number(!['ip_policy', 'vault', 'tunnel_session', 'app_user', 'reserved_domain'].includes(tableNameOf(list)));

export interface ListQuery {
  /** As GraphQL's arguments. */
  order?: string;
  filter?: string;
  after?: string;
}

/** Each order in both directions, from the first page and from the middle on; and each member filtered by. */
export function queriesOf({ members = {} }: Collection, middle: string): ListQuery[] {
  const orders = Object.entries(members)
    .filter(([, { isOrdered }]) => isOrdered)
    .flatMap(([name]) => [`${name} asc`, `${name} desc`]);
  const filters = Object.entries(members).flatMap(([name, member]) => filtersOn(name, member));
  return [
    ...orders.flatMap((order) => [{ order }, { order, after: middle }]),
    ...filters.map((filter) => ({ filter })),
    ...orders.slice(0, 2).map((order) => ({ order, filter: filters.at(-1) as string })),
  ];
}

/** Filters that few rows pass, or none: the database may have to look at all of them. */
function filtersOn(name: string, { type, isNullable }: FilterMember): string[] {
  const nulls = isNullable ? [`obj.${name} == null`, `has(obj.${name})`] : [];
  switch (type) {
    case 'id':
      return [`obj.${name} == "x"`, `obj.${name} in ["x", "y"]`, ...nulls];
    case 'text':
      return [`obj.${name} == "unit 7"`, `obj.${name}.startsWith("none")`, `obj.${name}.contains("none")`, ...nulls];
    case 'timestamp':
      return [`obj.${name} < timestamp("2020-01-01T00:00:00Z")`, `obj.${name} >= daysAgo(1)`, ...nulls];
    case 'boolean':
      return [`!obj.${name}`];
    case 'number':
      return [`obj.${name} > 1000000`, `obj.${name} in [1, 2.5]`, ...nulls];
    case 'choice':
      return [`obj.${name} == "none"`, `obj.${name} != "none"`];
    case 'texts':
    case 'relatedTexts':
      return [`"none" in obj.${name}`, `size(obj.${name}) == 0`];
    case 'labels':
      return [`obj.${name}.site == "s7"`, `"none" in obj.${name}`];
  }
}
