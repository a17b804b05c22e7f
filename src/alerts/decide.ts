// Decides what follows from what was found for a rule: whether an alert fires, goes on or is resolved, and what is told of it.

import { type Condition, conditionOf, isBreached } from './conditions.ts';
import type { Finding } from './finding.ts';

/**
 * How long the first notification waits at most while the number of subjects still grows; milliseconds. Agents of one site are
 * not lost in the same moment: each is by its own heartbeat.
 */
export const GROUP_WAIT_MS = 30_000;
const MINUTE_MS = 60_000;
/** By which part the compared value has to change before an alert shows the new one: each change is a write. */
const VALUE_STEP = 0.1;

export type NotificationKind = 'FIRED' | 'GREW' | 'RESOLVED';

/** The alert of a rule that is not resolved. Times are in milliseconds. */
export interface OpenAlert {
  id: string;
  state: 'FIRING' | 'ACKNOWLEDGED';
  firedAt: number;
  subjectIds: string[];
  subjectCount: number;
  value: number;
  /** Since when the condition no longer holds; null while it does. */
  clearSince: number | null;
  /** When and with how many subjects it was told last; null before that. */
  notifiedAt: number | null;
  notifiedCount: number;
}

/** A rule, and how it stands. */
export interface RuleState {
  id: string;
  accountId: string;
  name: string;
  condition: Condition;
  severity: string;
  threshold: number;
  forSeconds: number;
  resolveSeconds: number;
  updateMinutes: number;
  isEnabled: boolean;
  /** Whether the whole rule is silenced. */
  isSilenced: boolean;
  /** Since when the condition holds, of conditions of the rule as a whole; milliseconds, null while it does not. */
  pendingSince: number | null;
  alert: OpenAlert | null;
}

/** What is to be written. Members that are left out stay as they are. */
export interface AlertDecision {
  pendingSince?: number | null;
  /** An alert fires, which began then. */
  fire?: { since: number };
  /** The alert shows what was found. */
  refresh?: true;
  clearSince?: number | null;
  /** The alert is resolved; what to say of it beside that, or ''. */
  resolve?: { remark: string };
  notify?: NotificationKind;
}

/** @param at the time of the database; milliseconds. @returns undefined when nothing is to be written. */
export function decide(rule: RuleState, finding: Finding, at: number): AlertDecision | undefined {
  const holds = rule.isEnabled && isBreached(rule.condition, rule.threshold, finding);
  if (!rule.alert) return holds ? begin(rule, finding, at) : forget(rule);
  return holds ? goOn(rule, rule.alert, finding, at) : clear(rule, rule.alert, finding, at);
}

function begin(
  { condition, forSeconds, pendingSince }: RuleState,
  finding: Finding,
  at: number,
): AlertDecision | undefined {
  if (conditionOf(condition).isPerSubject) return { fire: { since: finding.since ?? at } };
  const since = pendingSince ?? at;
  if (at - since >= forSeconds * 1000) return { fire: { since }, pendingSince: since };
  return pendingSince === null ? { pendingSince: at } : undefined;
}

function forget({ pendingSince }: RuleState): AlertDecision | undefined {
  return pendingSince === null ? undefined : { pendingSince: null };
}

function goOn(rule: RuleState, alert: OpenAlert, finding: Finding, at: number): AlertDecision | undefined {
  const decision: AlertDecision = {};
  if (alert.clearSince !== null) decision.clearSince = null;
  if (isChanged(alert, finding)) decision.refresh = true;
  const kind = notificationOf(rule, alert, finding, at);
  if (kind) decision.notify = kind;
  return Object.keys(decision).length === 0 ? undefined : decision;
}

function notificationOf(
  { isSilenced, updateMinutes }: RuleState,
  { state, firedAt, subjectCount, notifiedAt, notifiedCount }: OpenAlert,
  { count }: Finding,
  at: number,
): NotificationKind | undefined {
  if (isSilenced || state === 'ACKNOWLEDGED') return undefined;
  if (notifiedAt === null) return count <= subjectCount || at - firedAt >= GROUP_WAIT_MS ? 'FIRED' : undefined;
  return count > notifiedCount && at - notifiedAt >= updateMinutes * MINUTE_MS ? 'GREW' : undefined;
}

function clear(rule: RuleState, alert: OpenAlert, finding: Finding, at: number): AlertDecision | undefined {
  const since = alert.clearSince ?? at;
  const isOver = !rule.isEnabled || at - since >= rule.resolveSeconds * 1000;
  if (!isOver) return alert.clearSince === null ? { clearSince: at } : undefined;
  const isTold = alert.notifiedAt !== null && !rule.isSilenced && finding.silenced === 0;
  return {
    pendingSince: null,
    resolve: { remark: remarkOf(rule, finding) },
    ...(isTold && { notify: 'RESOLVED' }),
  };
}

/** Why it is resolved, if not because all is well again. */
function remarkOf({ isEnabled }: RuleState, { silenced }: Finding): string {
  if (!isEnabled) return 'The rule was switched off.';
  return silenced > 0 ? `${silenced} that it was about ${silenced === 1 ? 'is' : 'are'} silenced.` : '';
}

function isChanged(alert: OpenAlert, { count, value, subjects }: Finding): boolean {
  if (alert.subjectCount !== count || Math.abs(value - alert.value) > VALUE_STEP * Math.abs(alert.value)) return true;
  return subjects.some(({ id }, index) => alert.subjectIds[index] !== id);
}
