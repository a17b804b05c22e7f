// What is told of an alert: the object that webhooks and events show, and the text of an e-mail.

import { type Condition, conditionOf } from './conditions.ts';
import type { NotificationKind } from './decide.ts';
import type { AffectedObject } from './finding.ts';

/** An alert in snake_case, as webhooks and events show it. Times are RFC 3339. */
export interface ShownAlert {
  id: string;
  /** Its page in the dashboard. */
  url: string;
  rule: { id: string; name: string };
  condition: string;
  severity: string;
  state: string;
  since: string;
  fired_at: string;
  resolved_at: string | null;
  threshold: number;
  value: number;
  subject_count: number;
  subjects: AffectedObject[];
}

/** The body of a webhook. */
export interface NotificationBody {
  /** `aln_…`: the same each time that it is sent. */
  notification_id: string;
  type: 'alert_fired' | 'alert_grew' | 'alert_resolved' | 'alert_test';
  timestamp: string;
  account_id: string;
  /** One line for people. */
  summary: string;
  alert: ShownAlert;
}

export const typeOf = {
  FIRED: 'alert_fired',
  GREW: 'alert_grew',
  RESOLVED: 'alert_resolved',
} as const satisfies Record<NotificationKind, NotificationBody['type']>;

/** RFC 3339 in UTC, in whole seconds. */
export function toTimestamp(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** One line that says what is wrong: `half the fleet: 50 endpoints are offline`. */
export function summaryOf(type: NotificationBody['type'], alert: ShownAlert): string {
  const { name } = alert.rule;
  if (type === 'alert_test') return `${name}: this is a test`;
  if (type === 'alert_resolved') return `${name}: resolved`;
  const { noun, verb } = conditionOf(alert.condition as Condition);
  const form = alert.subject_count === 1 ? 0 : 1;
  return `${name}: ${alert.subject_count} ${noun[form]} ${verb[form]}`;
}

/** The text of an e-mail, in lines of plain text. */
export function mailTextOf({ type, summary, alert }: NotificationBody): string {
  const rest = alert.subject_count - alert.subjects.length;
  return [
    summary,
    '',
    `Severity: ${alert.severity}`,
    `Since: ${alert.since}`,
    ...(alert.resolved_at === null ? [] : [`Resolved: ${alert.resolved_at}`]),
    ...(conditionOf(alert.condition as Condition).isShare ? [`Share: ${Math.round(alert.value * 100)} %`] : []),
    '',
    ...(type === 'alert_resolved' && alert.subjects.length > 0 ? ['It was about:'] : []),
    ...alert.subjects.map(({ name, since, detail }) => `- ${name}, since ${since}${detail && `: ${detail}`}`),
    ...(rest > 0 ? [`- and ${rest} more`] : []),
    '',
    alert.url,
    '',
  ].join('\n');
}
