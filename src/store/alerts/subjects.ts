// The objects that conditions look at, joined to the rules that select them: each is a statement that gives the columns
// `rule_id, id, name, since, detail, value, is_affected, is_silenced`.

import type { Condition } from '../../alerts/conditions.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type EndpointColumns, endpointSelected, objectSelected, SELECTS_ENDPOINTS, silenced } from './selection.ts';

/** What a certificate that is renewed by itself has left of its life when its renewal is overdue. */
const OVERDUE = 0.08;

const OFFLINE: EndpointColumns = {
  ...{ hostport: 'o.hostport', publicUrl: 'o.public_url', credentialId: 'o.credential_id', labels: 'a.labels' },
};
/** Of the endpoint `e`, joined by `joinAgent`. */
export const LIVE: EndpointColumns = {
  ...{ hostport: 'e.hostport', publicUrl: 'e.public_url', credentialId: 'n.credential_id', labels: 'a.labels' },
};
/** The session and the agent behind the endpoint `e`; nothing for one of an edge. */
export const joinAgent = Prisma.sql`
  LEFT JOIN tunnel t ON t.id = e.tunnel_id LEFT JOIN tunnel_session n ON n.id = t.session_id LEFT JOIN agent a ON a.id = n.agent_id`;

export const rulesOf = (condition: Condition) => Prisma.sql`
  FROM (SELECT * FROM alert_rule WHERE enabled AND condition::text = ${condition}) AS r`;

export const isSilenced = (now: Prisma.Sql, columns: EndpointColumns) =>
  silenced(now, SELECTS_ENDPOINTS, endpointSelected('s', columns));

const offlineColumns = (now: Prisma.Sql) => Prisma.sql`
  SELECT r.id AS rule_id, o.id, o.public_url AS name, o.offline_at AS since, o.reason AS detail, 0::float8 AS value,
    true AS is_affected, ${isSilenced(now, OFFLINE)} AS is_silenced`;

const joinOffline = Prisma.sql`
  JOIN offline_endpoint o ON o.account_id = r.account_id LEFT JOIN agent a ON a.id = o.agent_id`;

const offlineSelected = Prisma.raw(endpointSelected('r', OFFLINE));

export const endpointCandidates = {
  /** Addresses that have been offline for longer than the rule wants. */
  offline: (now: Prisma.Sql) => Prisma.sql`
    ${offlineColumns(now)} ${rulesOf('ENDPOINT_OFFLINE')} ${joinOffline}
    WHERE o.offline_at <= ${now} - r.for_seconds * interval '1 second' AND ${offlineSelected}`,

  /** Endpoints, those of edges among them, that have been failing for longer than the rule wants. */
  failing: (now: Prisma.Sql) => Prisma.sql`
    SELECT r.id AS rule_id, e.id, e.public_url AS name, h.since, 'visitors get errors' AS detail, 0::float8 AS value,
      true AS is_affected, ${isSilenced(now, LIVE)} AS is_silenced
    ${rulesOf('ENDPOINT_FAILING')} JOIN endpoint_health h ON h.account_id = r.account_id AND h.failing
    JOIN endpoint e ON e.id = h.endpoint_id AND e.account_id = r.account_id ${joinAgent}
    WHERE h.since <= ${now} - r.for_seconds * interval '1 second' AND ${Prisma.raw(endpointSelected('r', LIVE))}`,

  /** Addresses that are offline, and those that are served. Several agents that serve one count once. */
  offlineAndLive: (now: Prisma.Sql) => Prisma.sql`
    ${offlineColumns(now)} ${rulesOf('OFFLINE_SHARE')} ${joinOffline} WHERE ${offlineSelected}
    UNION ALL
    SELECT DISTINCT ON (r.id, e.address) r.id, e.id, e.public_url, e.created_at, '', 0, false, ${isSilenced(now, LIVE)}
    ${rulesOf('OFFLINE_SHARE')} JOIN endpoint e ON e.account_id = r.account_id AND e.address IS NOT NULL ${joinAgent}
    WHERE n.id IS NOT NULL AND ${Prisma.raw(endpointSelected('r', LIVE))}`,
};

/** Certificates that expire within so many days, if they are in use or a rule names them. */
export const certificateCandidates = (now: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT * FROM (
    SELECT r.id AS rule_id, c.id, coalesce(nullif(array_to_string(c.dns_names[1:3], ', '), ''), c.id) AS name,
      c.not_after - CASE WHEN c.managed_certificate_id IS NULL THEN r.threshold * interval '1 day'
        ELSE least(r.threshold * interval '1 day', (c.not_after - c.not_before) * ${OVERDUE}) END AS since,
      'expires ' || to_char(c.not_after AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS detail, 0::float8 AS value,
      true AS is_affected, ${silenced(now, 'true', objectSilenced('certificate_ids', 'c.id'))} AS is_silenced
    ${rulesOf('CERTIFICATE_EXPIRES')} JOIN tls_certificate c ON c.account_id = r.account_id
      AND ${Prisma.raw(objectSelected('r', 'certificate_ids', 'c.id'))}
    WHERE c.managed_certificate_id IS NOT NULL OR cardinality(r.certificate_ids) > 0
      OR EXISTS (SELECT 1 FROM reserved_domain d WHERE d.certificate_id = c.id)
  ) AS certificate WHERE since <= ${now}`;

const joinDestinations = Prisma.sql`
  JOIN event_destination d ON d.account_id = r.account_id AND ${Prisma.raw(objectSelected('r', 'destination_ids', 'd.id'))}
  JOIN event_lane l ON l.destination_id = d.id`;

const destinationColumns = (now: Prisma.Sql) => Prisma.sql`
  SELECT r.id AS rule_id, d.id, coalesce(nullif(d.description, ''), d.id) AS name,
    true AS is_affected, ${silenced(now, 'true', objectSilenced('destination_ids', 'd.id'))} AS is_silenced`;

export const destinationCandidates = {
  /** Destinations that fail, and for which an event has waited for longer than the rule wants. */
  failing: (now: Prisma.Sql) => Prisma.sql`
    ${destinationColumns(now)}, b.created_at AS since, 0::float8 AS value,
      concat_ws(': ', l.last_error->>'code', l.last_error->>'message') AS detail
    ${rulesOf('DESTINATION_FAILING')} ${joinDestinations} AND l.state <> 'OK'
    JOIN LATERAL (
      SELECT created_at FROM event_batch WHERE destination_id = d.id ORDER BY id LIMIT 1
    ) AS b ON b.created_at <= ${now} - r.for_seconds * interval '1 second'`,

  /** Destinations for which more events wait than the rule allows. */
  backlogs: (now: Prisma.Sql) => Prisma.sql`
    ${destinationColumns(now)}, b.since, b.waiting AS value, b.waiting || CASE WHEN b.waiting = 1 THEN ' event waits' ELSE ' events wait' END AS detail
    ${rulesOf('BACKLOG')} ${joinDestinations}
    JOIN LATERAL (
      SELECT sum(count)::float8 AS waiting, min(created_at) AS since FROM event_batch WHERE destination_id = d.id
    ) AS b ON b.waiting > r.threshold`,
};

/** Whether a silence names an object: one that names none is about something else. */
function objectSilenced(list: 'certificate_ids' | 'destination_ids', id: string): string {
  return `cardinality(s.${list}) > 0 AND ${objectSelected('s', list, id)}`;
}
