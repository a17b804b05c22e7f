// Finding things by a piece of what is known of them, in one statement over what an account has.

import type { Db } from '../../../store/database/client.ts';
import { Prisma } from '../../../store/generated/prisma/client.ts';
import { isId } from '../../../store/ids.ts';

export interface SearchHit {
  kind: string;
  id: string;
  title: string;
  detail: string;
}

/** Where things of one kind are found. All but `kind` is SQL. */
interface Place {
  kind: string;
  table: string;
  title: string;
  detail: string;
  /** What is searched. */
  texts: string[];
  /** What is joined to the table. */
  join?: string;
  /** Which rows of the account count; all when left out. */
  where?: string;
}

const SHOWN_MAX = 200;
/** Of each kind, so many are looked at, the newest first: no index helps to find a piece of a text. */
export const LOOKED_AT_MAX = 10_000;
const LIVE = 'SELECT id FROM node WHERE lease_until > now()';
const HOSTPORTS = `(SELECT string_agg(hostport, ', ' ORDER BY position) FROM edge_hostport WHERE edge_id = t.id)`;
const LABELS = `(SELECT string_agg(key || '=' || value, ', ' ORDER BY key) FROM jsonb_each_text(t.labels))`;
const SOURCES = `(SELECT string_agg(type, ', ' ORDER BY type) FROM event_source WHERE subscription_id = t.id)`;
const NOTED = ['t.description', 't.metadata'];

const described = (kind: string, table: string): Place => ({
  ...{ kind, table, title: 't.description', detail: 't.metadata' },
  texts: NOTED,
});

const owners = (kind: string, ofKind: string): Place => ({
  ...{ kind, table: 'owner', title: 't.subject', where: `t.kind = '${ofKind}'` },
  detail: `lower(t.role::text) || CASE WHEN t.active THEN '' ELSE ', deactivated' END`,
  texts: ['t.subject'],
});

const edges = (kind: string, ofKind: string): Place => ({
  ...{ kind, table: 'edge', title: HOSTPORTS, detail: 't.description', where: `t.kind = '${ofKind}'` },
  texts: [HOSTPORTS, ...NOTED],
});

/** In the order in which people look for them. */
const places: Place[] = [
  {
    ...{ kind: 'endpoint', table: 'endpoint', title: 't.public_url' },
    join: 'LEFT JOIN tunnel ON tunnel.id = t.tunnel_id',
    where: `(t.node_id IS NULL OR t.node_id IN (${LIVE}))`,
    detail: `coalesce(nullif(tunnel.forwards_to, ''), t.metadata)`,
    texts: ['t.public_url', 't.hostport', 't.metadata', 'tunnel.forwards_to'],
  },
  {
    ...{ kind: 'offlineEndpoint', table: 'offline_endpoint', title: 't.public_url', detail: 't.reason' },
    texts: ['t.public_url', 't.hostport', 't.metadata', 't.forwards_to', 't.ip'],
  },
  {
    ...{ kind: 'tunnelSession', table: 'tunnel_session', title: 't.ip', where: `t.node_id IN (${LIVE})` },
    detail: `concat_ws(', ', nullif(t.agent_version, ''), nullif(t.os, ''), nullif(t.metadata, ''))`,
    texts: ['t.ip', 't.agent_version', 't.os', 't.arch', 't.user_agent', 't.metadata'],
  },
  {
    ...{ kind: 'credential', table: 'credential', title: 't.description', detail: `array_to_string(t.acl, ', ')` },
    texts: [...NOTED, `array_to_string(t.acl, ', ')`],
  },
  described('apiKey', 'api_key'),
  owners('botUser', 'BOT'),
  owners('user', 'USER'),
  {
    ...{ kind: 'reservedDomain', table: 'reserved_domain', title: 't.domain', detail: 't.description' },
    texts: ['t.domain', 't.cname_target', 't.acme_challenge_cname_target', ...NOTED],
  },
  {
    ...{ kind: 'tlsCertificate', table: 'tls_certificate', detail: 't.description' },
    title: `coalesce(nullif(array_to_string(t.dns_names || t.ips, ', '), ''), t.subject ->> 'commonName')`,
    texts: [`array_to_string(t.dns_names || t.ips, ', ')`, `t.subject ->> 'commonName'`, 't.serial_number', ...NOTED],
  },
  {
    ...{ kind: 'certificateAuthority', table: 'certificate_authority', title: 't.subject_common_name' },
    detail: 't.description',
    texts: ['t.subject_common_name', ...NOTED],
  },
  edges('httpsEdge', 'HTTPS'),
  edges('tlsEdge', 'TLS'),
  {
    ...{ kind: 'httpsEdgeRoute', table: 'route', title: 't.match', detail: 't.description' },
    texts: ['t.match', ...NOTED],
  },
  {
    ...{ kind: 'tunnelGroupBackend', table: 'backend', title: LABELS, detail: 't.description' },
    texts: [LABELS, ...NOTED],
  },
  described('ipPolicy', 'ip_policy'),
  {
    ...{ kind: 'ipPolicyRule', table: 'ip_policy_rule', title: 't.cidr', detail: 't.description' },
    texts: ['t.cidr', ...NOTED],
  },
  described('eventDestination', 'event_destination'),
  {
    ...{ kind: 'eventSubscription', table: 'event_subscription', title: 't.description', detail: SOURCES },
    texts: [...NOTED, SOURCES],
  },
];

/**
 * What has the text in its id, in a name, an address or a note; upper and lower case are the same. The object with
 * just this id comes first, however old it is; then one kind after the other, each with the newest first, of the newest
 * 10,000 of the kind.
 * @param first how many, at the most.
 */
export function search(db: Db, accountId: string, text: string, first: number): Promise<SearchHit[]> {
  // Without an id to look for, the newest that fit are found without sorting all that do.
  const isAnId = isId(text.slice(0, text.indexOf('_')), text);
  const order = (id: Prisma.Sql) => (isAnId ? Prisma.sql`(${id} = ${text}) DESC,` : Prisma.empty);
  const pattern = patternOf(text);
  const rowsOf = ({ table, where = 'true' }: Place) => {
    const rows = Prisma.sql`SELECT * FROM ${Prisma.raw(table)} t WHERE account_id = ${accountId} AND ${Prisma.raw(where)}`;
    if (!isAnId) return Prisma.sql`${rows} ORDER BY id DESC LIMIT ${LOOKED_AT_MAX}`;
    return Prisma.sql`
      (${rows} AND id = ${text}) UNION ALL (${rows} AND id <> ${text} ORDER BY id DESC LIMIT ${LOOKED_AT_MAX})`;
  };
  const branches = places.map(
    (place, rank) => Prisma.sql`
      (SELECT ${rank}::int AS rank, ${place.kind}::text AS kind, t.id AS id,
         left(coalesce(nullif(${Prisma.raw(place.title)}, ''), t.id), ${SHOWN_MAX}) AS title,
         left(coalesce(${Prisma.raw(place.detail)}, ''), ${SHOWN_MAX}) AS detail
       FROM (${rowsOf(place)}) t ${Prisma.raw(place.join ?? '')}
       WHERE concat_ws(E'\n', t.id, ${Prisma.raw(place.texts.join(', '))}) ~* ${pattern}
       ORDER BY ${order(Prisma.sql`t.id`)} t.id DESC LIMIT ${first})`,
  );
  return db.$queryRaw<SearchHit[]>`
    SELECT kind, id, title, detail FROM (${Prisma.join(branches, ' UNION ALL ')}) AS hits
    ORDER BY ${order(Prisma.sql`id`)} rank, id DESC LIMIT ${first}`;
}

/** A regular expression for a text. Not every database's locale knows the cases of all letters, so they are spelt out. */
function patternOf(text: string): string {
  const cases = (letter: string) =>
    `[${[letter, letter.toLowerCase(), letter.toUpperCase()].filter((one) => [...one].length === 1).join('')}]`;
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/[^\P{L}a-zA-Z]/gu, cases);
}
