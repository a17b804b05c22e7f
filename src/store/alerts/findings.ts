// What there is of a condition, for all rules that watch it, in one statement.

import type { Condition } from '../../alerts/conditions.ts';
import { type AffectedObject, type Finding, SUBJECTS_MAX } from '../../alerts/finding.ts';
import type { Db } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { agentsOffline } from './agents-offline.ts';
import { failedRequests } from './failed-requests.ts';
import { certificateCandidates, destinationCandidates, endpointCandidates } from './subjects.ts';

interface FindingRow extends Omit<Finding, 'subjects'> {
  ruleId: string;
  /** How many could be affected. */
  total: number;
  subjects: AffectedObject[] | null;
}

/** The candidates of each condition: `rule_id, id, name, since, detail, value, is_affected, is_silenced`. */
const candidates: Record<Condition, (now: Prisma.Sql) => Prisma.Sql> = {
  ENDPOINT_OFFLINE: endpointCandidates.offline,
  ENDPOINT_FAILING: endpointCandidates.failing,
  AGENT_OFFLINE: agentsOffline,
  ERROR_SHARE: failedRequests,
  OFFLINE_SHARE: endpointCandidates.offlineAndLive,
  CERTIFICATE_EXPIRES: certificateCandidates,
  DESTINATION_FAILING: destinationCandidates.failing,
  BACKLOG: destinationCandidates.backlogs,
};

/** @returns what there is, by the ids of the rules. */
export async function findSubjects(db: Db, condition: Condition, now: Prisma.Sql): Promise<Map<string, Finding>> {
  const rows = await db.$queryRaw<FindingRow[]>`
    WITH candidate AS (${candidates[condition](now)}), placed AS (
      SELECT *, is_affected AND NOT is_silenced AS counts,
        row_number() OVER (PARTITION BY rule_id, is_affected AND NOT is_silenced ORDER BY since, id) AS place
      FROM candidate
    )
    SELECT rule_id AS "ruleId", count(*) FILTER (WHERE counts)::int AS count,
      count(*) FILTER (WHERE is_affected AND is_silenced)::int AS silenced,
      count(*) FILTER (WHERE NOT is_silenced)::int AS total,
      coalesce(max(value) FILTER (WHERE counts), 0)::float8 AS value,
      (extract(epoch FROM min(since) FILTER (WHERE counts)) * 1000)::float8 AS since,
      jsonb_agg(jsonb_build_object('id', id, 'name', name, 'detail', detail,
        'since', to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) ORDER BY place)
        FILTER (WHERE counts AND place <= ${SUBJECTS_MAX}) AS subjects
    FROM placed GROUP BY rule_id`;
  return new Map(rows.map(({ ruleId, ...row }) => [ruleId, toFinding(condition, row)]));
}

function toFinding(condition: Condition, { total, ...row }: Omit<FindingRow, 'ruleId'>): Finding {
  const value = condition === 'OFFLINE_SHARE' && total > 0 ? row.count / total : row.value;
  return { ...row, value, subjects: row.subjects ?? [] };
}
