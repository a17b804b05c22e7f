// An alert of the database as notifications show it.

import type { NotificationKind } from '../../alerts/decide.ts';
import type { AffectedObject } from '../../alerts/finding.ts';
import { type NotificationBody, type ShownAlert, summaryOf, toTimestamp, typeOf } from '../../alerts/notification.ts';
import type { AlertModel } from '../generated/prisma/models.ts';

export interface NotificationFacts {
  /** `aln_…` */
  id: string;
  kind: NotificationKind;
  at: number;
  baseUrl: string;
  /** Of the rule. */
  threshold: number;
}

export function notificationOf(
  { id, kind, at, baseUrl, threshold }: NotificationFacts,
  row: AlertModel,
): NotificationBody {
  const time = (date: Date) => toTimestamp(date.getTime());
  const alert: ShownAlert = {
    id: row.id,
    url: `${baseUrl}/dashboard/alerts/${row.id}`,
    rule: { id: row.ruleId ?? '', name: row.name },
    condition: row.condition,
    severity: row.severity,
    state: row.state,
    since: time(row.since),
    fired_at: time(row.firedAt),
    resolved_at: row.resolvedAt && time(row.resolvedAt),
    threshold,
    value: row.value,
    subject_count: row.subjectCount,
    subjects: row.subjects as unknown as AffectedObject[],
  };
  const type = typeOf[kind];
  return {
    notification_id: id,
    type,
    timestamp: toTimestamp(at),
    account_id: row.accountId,
    summary: summaryOf(type, alert),
    alert,
  };
}
