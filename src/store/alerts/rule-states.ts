// All rules and how they stand, in one statement.

import type { RuleStates } from '../../alerts/alert-store.ts';
import type { Condition } from '../../alerts/conditions.ts';
import type { OpenAlert, RuleState } from '../../alerts/decide.ts';
import type { AffectedObject } from '../../alerts/finding.ts';
import type { Db } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';

type RuleColumns = Omit<RuleState, 'alert' | 'pendingSince'>;

interface StateRow extends RuleColumns {
  at: number;
  pendingSince: number | null;
  alertId: string | null;
  state: OpenAlert['state'];
  firedAt: number;
  subjects: AffectedObject[];
  subjectCount: number;
  value: number;
  clearSince: number | null;
  notifiedAt: number | null;
  notifiedCount: number;
}

/** Rules that are switched on, and those that still have an alert. */
export async function ruleStates(db: Db, now: Prisma.Sql): Promise<RuleStates> {
  const rows = await db.$queryRaw<StateRow[]>`
    SELECT r.id, r.account_id AS "accountId", r.name, r.condition::text, r.severity::text, r.threshold,
      r.for_seconds AS "forSeconds", r.resolve_seconds AS "resolveSeconds", r.update_minutes AS "updateMinutes",
      r.enabled AS "isEnabled", (extract(epoch FROM r.pending_since) * 1000)::float8 AS "pendingSince",
      EXISTS (
        SELECT 1 FROM alert_silence s WHERE s.rule_id = r.id AND s.until > ${now} AND s.address_pattern = '' AND s.label = ''
          AND cardinality(s.credential_ids || s.certificate_ids || s.destination_ids) = 0
      ) AS "isSilenced",
      (extract(epoch FROM ${now}) * 1000)::float8 AS at, a.id AS "alertId", a.state::text,
      (extract(epoch FROM a.fired_at) * 1000)::float8 AS "firedAt", a.subjects, a.subject_count AS "subjectCount", a.value,
      (extract(epoch FROM a.clear_since) * 1000)::float8 AS "clearSince",
      (extract(epoch FROM a.notified_at) * 1000)::float8 AS "notifiedAt", a.notified_count AS "notifiedCount"
    FROM alert_rule r LEFT JOIN alert a ON a.open_rule_id = r.id
    WHERE r.enabled OR a.id IS NOT NULL ORDER BY r.id`;
  return { at: Math.round(rows[0]?.at ?? 0), rules: rows.map(toRuleState) };
}

function toRuleState(row: StateRow): RuleState {
  const { id, accountId, name, severity, threshold, forSeconds, resolveSeconds, updateMinutes } = row;
  const { isEnabled, isSilenced, pendingSince } = row;
  const rule = { id, accountId, name, severity, threshold, forSeconds, resolveSeconds, updateMinutes };
  return {
    ...{ ...rule, isEnabled, isSilenced, pendingSince },
    condition: row.condition as Condition,
    alert: row.alertId === null ? null : toOpenAlert(row.alertId, row),
  };
}

function toOpenAlert(id: string, row: StateRow): OpenAlert {
  const { state, firedAt, subjectCount, value, clearSince, notifiedAt, notifiedCount, subjects } = row;
  const subjectIds = subjects.map((subject) => subject.id);
  return { id, state, firedAt, subjectIds, subjectCount, value, clearSince, notifiedAt, notifiedCount };
}
