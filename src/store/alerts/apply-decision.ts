// Writes what was decided of a rule: the state of its alert, and what is told of that, in one transaction.

import type { AlertDecision, NotificationKind, RuleState } from '../../alerts/decide.ts';
import type { Finding } from '../../alerts/finding.ts';
import type { Announce } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { AlertModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import { notificationOf } from './show-alert.ts';

export interface ApplyContext {
  db: Db;
  announce: Announce;
  /** The URL that links begin with, without a slash at its end. */
  baseUrl: string;
}

/** @param at the time of the database; milliseconds. */
export async function applyDecision(
  context: ApplyContext,
  rule: RuleState,
  finding: Finding,
  decision: AlertDecision,
  at: number,
): Promise<void> {
  const { db, announce } = context;
  if (!(await lockRule(db, rule))) return;
  if (decision.pendingSince !== undefined)
    await db.alertRule.update({ where: { id: rule.id }, data: { pendingSince: toDate(decision.pendingSince) } });
  const alert = decision.fire
    ? await fire(db, rule, finding, decision.fire, at)
    : rule.alert && (await change(db, rule.alert, finding, decision, at));
  if (!alert) return;
  announce({ kind: 'alert', action: decision.fire ? 'CREATED' : 'UPDATED', id: alert.id, accountId: rule.accountId });
  if (decision.notify) await enqueue(context, rule, alert, decision.notify, at);
}

/** @returns false when the rule is gone, or was switched on or off meanwhile. */
async function lockRule(db: Db, { id, isEnabled }: RuleState): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    SELECT id FROM alert_rule WHERE id = ${id} AND enabled = ${isEnabled} FOR NO KEY UPDATE`;
  return rows.length > 0;
}

function fire(
  db: Db,
  rule: RuleState,
  finding: Finding,
  { since }: { since: number },
  at: number,
): Promise<AlertModel> {
  const { id: ruleId, accountId, name, condition, severity } = rule;
  return db.alert.create({
    data: {
      ...{ id: newId('al'), accountId, ruleId, openRuleId: ruleId, name, condition },
      severity: severity as AlertModel['severity'],
      since: new Date(since),
      firedAt: new Date(at),
      ...shownFinding(finding),
    },
  });
}

/** @returns null when the alert is no longer as it was. */
async function change(
  db: Db,
  { id, state, subjectCount }: NonNullable<RuleState['alert']>,
  finding: Finding,
  { refresh, clearSince, resolve, notify }: AlertDecision,
  at: number,
): Promise<AlertModel | null> {
  const data: Prisma.AlertUpdateManyMutationInput & { openRuleId?: null } = {
    ...(refresh && shownFinding(finding)),
    ...(clearSince !== undefined && { clearSince: toDate(clearSince) }),
    ...(notify && { notifiedAt: new Date(at), notifiedCount: resolve ? subjectCount : finding.count }),
    ...(resolve && { state: 'RESOLVED', resolvedAt: new Date(at), openRuleId: null, remark: resolve.remark }),
  };
  const { count } = await db.alert.updateMany({ where: { id, state }, data });
  return count === 0 ? null : db.alert.findUniqueOrThrow({ where: { id } });
}

const shownFinding = ({ subjects, count, value }: Finding) => ({
  subjects: subjects as unknown as Prisma.InputJsonValue,
  subjectCount: count,
  value,
});

/** Writes a notification for each channel of the rule. The pipeline of events is told of beginnings and ends alone. */
async function enqueue(
  { db, baseUrl }: ApplyContext,
  rule: RuleState,
  alert: AlertModel,
  kind: NotificationKind,
  at: number,
): Promise<void> {
  const channels = await db.alertRuleChannel.findMany({
    where: { ruleId: rule.id },
    orderBy: { position: 'asc' },
    select: { channel: { select: { id: true, kind: true } } },
  });
  const told = channels.filter(({ channel }) => kind !== 'GREW' || channel.kind !== 'EVENTS');
  await db.alertNotification.createMany({
    data: told.map(({ channel }) => {
      const id = newId('aln');
      const body = notificationOf({ id, kind, at, baseUrl, threshold: rule.threshold }, alert);
      return {
        ...{ id, accountId: rule.accountId, alertId: alert.id, channelId: channel.id, kind },
        ...{ body: body as unknown as Prisma.InputJsonValue, createdAt: new Date(at), nextAt: new Date(at) },
      };
    }),
  });
}

const toDate = (at: number | null) => (at === null ? null : new Date(at));
