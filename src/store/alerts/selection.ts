// What a rule or a silence selects, in SQL. An empty member selects everything.

import { Prisma } from '../generated/prisma/client.ts';

/** A table with the members of a selector: `alert_rule` as `r`, `alert_silence` as `s`. */
export type SelectorTable = 'r' | 's';

/** Where the credential and the labels of an agent are. */
export interface AgentColumns {
  credentialId: string;
  labels: string;
}

/** Columns of an endpoint, and of its agent. */
export interface EndpointColumns extends AgentColumns {
  hostport: string;
  publicUrl: string;
}

/** Whether an endpoint is selected. A pattern is compared with its name, with its name and port, and with its URL. */
export function endpointSelected(table: SelectorTable, { hostport, publicUrl, ...agent }: EndpointColumns): string {
  const pattern = likePattern(`${table}.address_pattern`);
  const names = [`split_part(${hostport}, ':', 1)`, hostport, `lower(${publicUrl})`];
  return `(${table}.address_pattern = '' OR ${names.map((name) => `${name} LIKE ${pattern}`).join(' OR ')})
    AND ${agentSelected(table, agent)}`;
}

/** Whether an agent is selected, by its credential and its labels. */
export function agentSelected(table: SelectorTable, { credentialId, labels }: AgentColumns): string {
  const label = `${table}.label`;
  return `(cardinality(${table}.credential_ids) = 0 OR ${oneOf(credentialId, `${table}.credential_ids`)})
    AND (${label} = '' OR CASE WHEN strpos(${label}, '=') = 0 THEN ${labels}->>${label} IS NOT NULL
      ELSE ${labels}->>split_part(${label}, '=', 1) = substr(${label}, strpos(${label}, '=') + 1) END)`;
}

/** Whether a certificate or an event destination is selected. */
export function objectSelected(table: SelectorTable, list: 'certificate_ids' | 'destination_ids', id: string): string {
  return `(cardinality(${table}.${list}) = 0 OR ${oneOf(id, `${table}.${list}`)})`;
}

/** Whether a silence of the account selects something of the rule's. Silences of a whole rule do not count here. */
export function silenced(now: Prisma.Sql, isSelecting: string, isSelected: string): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT 1 FROM alert_silence s WHERE s.account_id = r.account_id AND s.until > ${now}
      AND (s.rule_id IS NULL OR s.rule_id = r.id) AND ${Prisma.raw(isSelecting)} AND ${Prisma.raw(isSelected)})`;
}

/** Whether a silence narrows to endpoints at all. */
export const SELECTS_ENDPOINTS = "(s.address_pattern <> '' OR s.label <> '' OR cardinality(s.credential_ids) > 0)";

/** Whether a silence narrows to agents: one with addresses is about endpoints alone. */
export const SELECTS_AGENTS = "s.address_pattern = '' AND (s.label <> '' OR cardinality(s.credential_ids) > 0)";

/** The collation is said, as that of a list is another one than that of ids. */
function oneOf(id: string, list: string): string {
  return `${id} COLLATE "C" = ANY(${list})`;
}

/** A pattern with `*` as one of LIKE. */
function likePattern(column: string): string {
  const escaped = ['\\', '%', '_'].reduce(
    (text, sign) => `replace(${text}, '${sign}', '\\${sign}')`,
    `lower(${column})`,
  );
  return `replace(${escaped}, '*', '%')`;
}
