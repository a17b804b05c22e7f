// The inputs of alert rules, and what they must be like.

import type { InputShapeFromFields } from '@pothos/core';
import { type Condition, type ConditionDescriptor, conditionNames, conditionOf } from '../../../alerts/conditions.ts';
import type { Db } from '../../../store/database/client.ts';
import { builder } from '../../builder/builder.ts';
import type { InputBuilder } from '../../collections/notes.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { checkTexts } from '../../text-limits.ts';
import { checkName, checkNumber } from './input-checks.ts';
import { AlertSelectorInput, checkFits, checkSelector, type Selector } from './selector.ts';

const CHANNELS_MAX = 20;
const WEEK_SECONDS = 604_800;

const descriptions: Record<Condition, string> = {
  ENDPOINT_OFFLINE:
    'Endpoints of agents that are offline for longer than `forSeconds`, until an agent serves them again or somebody forgets them.',
  ENDPOINT_FAILING:
    'Endpoints, those of edges too, that have been failing for longer than `forSeconds`, as their `health` says.',
  AGENT_OFFLINE:
    'Agents that are offline for longer than `forSeconds`, whatever they served, until they come back or are forgotten.',
  ERROR_SHARE:
    'More than the share `threshold`, above 0 and up to 1, of the requests to endpoints failed in the last minute, for longer than ' +
    '`forSeconds`. At least 10 requests in that minute are needed.',
  OFFLINE_SHARE:
    'More than the share `threshold` of endpoints of agents, above 0 and up to 1, is offline for longer than `forSeconds`.',
  CERTIFICATE_EXPIRES:
    'TLS certificates in use that expire within `threshold` days; one that is renewed by itself only when its renewal is overdue.',
  DESTINATION_FAILING: 'Event destinations that do not take events, where one has waited for longer than `forSeconds`.',
  BACKLOG: 'Event destinations for which more than `threshold` events wait for longer than `forSeconds`.',
};

export const AlertConditionType = builder.enumType('AlertCondition', {
  description: 'What an alert rule watches.',
  values: Object.fromEntries(
    conditionNames.map((name) => [name, { value: name, description: descriptions[name] }]),
  ) as Record<Condition, { value: Condition; description: string }>,
});

export const AlertSeverityType = builder.enumType('AlertSeverity', {
  description: 'How urgent an alert is, for people and for what sorts its notifications.',
  values: {
    INFO: { description: 'It is good to know.' },
    WARNING: { description: 'It can wait until the morning.' },
    CRITICAL: { description: 'Somebody has to look now.' },
  } as const,
});

const texts = {
  name: 'What it is called in notifications: one line of 1 to 100 characters.',
  description: 'What is to be done then, for people; at most 255 bytes.',
  threshold: 'What the condition compares: a share, a number of days or of events. Left out where it compares nothing.',
  forSeconds: 'How long it has to hold before an alert fires, in seconds, 0 to 604800.',
  resolveSeconds: 'How long all has to be well before an alert is resolved, in seconds, 0 to 604800.',
  updateMinutes: 'How often a growing alert is told again at most, in minutes, 1 to 10080.',
  channelIds: 'The ids of the channels that are told, each once; at most 20.',
};

/** The members of the input that creates. */
export const newRuleMembers = (t: InputBuilder) => ({
  name: t.string({ required: true, description: texts.name }),
  description: t.string({ description: texts.description }),
  condition: t.field({
    type: AlertConditionType,
    required: true,
    description: 'What it watches; it stays for good.',
  }),
  threshold: t.float({ description: texts.threshold }),
  forSeconds: t.int({ defaultValue: 60, description: `${texts.forSeconds} Certificates do not wait.` }),
  resolveSeconds: t.int({ defaultValue: 60, description: texts.resolveSeconds }),
  updateMinutes: t.int({ defaultValue: 30, description: texts.updateMinutes }),
  severity: t.field({ type: AlertSeverityType, defaultValue: 'WARNING', description: 'How urgent its alerts are.' }),
  enabled: t.boolean({ defaultValue: true, description: 'Whether it is evaluated.' }),
  selector: t.field({
    type: AlertSelectorInput,
    description: 'What it watches of all that the account has; all, when left out.',
  }),
  channelIds: t.idList({ description: texts.channelIds }),
});

/** The members of the input that changes. */
export const changedRuleMembers = (t: InputBuilder) => ({
  name: t.string({ description: texts.name }),
  description: t.string({ description: `${texts.description} "" clears it.` }),
  threshold: t.float({ description: texts.threshold }),
  forSeconds: t.int({ description: texts.forSeconds }),
  resolveSeconds: t.int({ description: texts.resolveSeconds }),
  updateMinutes: t.int({ description: texts.updateMinutes }),
  severity: t.field({ type: AlertSeverityType, description: 'How urgent its alerts are.' }),
  enabled: t.boolean({ description: 'Whether it is evaluated. When it is switched off, its alert is resolved.' }),
  selector: t.field({ type: AlertSelectorInput, description: 'What it watches. Replaces the whole selector.' }),
  channelIds: t.idList({ description: `${texts.channelIds} Replaces the whole list; an empty one clears it.` }),
});

type GivenRule = InputShapeFromFields<ReturnType<typeof changedRuleMembers>>;

/** @returns the columns that were given, without channels. @throws {ApiError} naming the members that are wrong. */
export function checkRule(given: GivenRule, condition: Condition): Partial<Selector> & ReturnType<typeof checkPlain> {
  const { selector, plain } = checkAll({
    selector() {
      const checked = given.selector && checkSelector(given.selector);
      if (checked) checkFits(checked, condition);
      return checked;
    },
    plain: () => checkPlain(given, condition),
  });
  return { ...plain, ...selector };
}

function checkPlain(given: GivenRule, condition: Condition) {
  const { name, threshold } = given;
  const seconds = { min: 0, max: WEEK_SECONDS };
  return checkAll({
    description: () => checkTexts(given).description,
    name: () => (name == null ? undefined : checkName(name)),
    threshold: () => (threshold == null ? undefined : checkThreshold(threshold, condition)),
    forSeconds: () => checkNumber('forSeconds', given.forSeconds, seconds),
    resolveSeconds: () => checkNumber('resolveSeconds', given.resolveSeconds, seconds),
    updateMinutes: () => checkNumber('updateMinutes', given.updateMinutes, { min: 1, max: 10_080 }),
    severity: () => given.severity ?? undefined,
    enabled: () => given.enabled ?? undefined,
  });
}

/** @throws {ApiError} when a new rule lacks the threshold of its condition. */
export function requireThreshold(threshold: number | null | undefined, condition: Condition): void {
  const limits = conditionOf(condition).threshold;
  if (limits && threshold == null)
    throw new ApiError('alertThresholdMissing', { member: 'threshold', condition, range: rangeOf(limits) });
}

function checkThreshold(threshold: number, condition: Condition): number {
  const limits = conditionOf(condition).threshold;
  const member = 'threshold';
  if (!limits) throw new ApiError('alertThresholdRefused', { member, condition });
  const { above, most, isWhole } = limits;
  if (threshold > above && threshold <= most && (!isWhole || Number.isInteger(threshold))) return threshold;
  throw new ApiError('alertThresholdRange', { member, condition, range: rangeOf(limits) });
}

function rangeOf({ above, most, isWhole }: NonNullable<ConditionDescriptor['threshold']>): string {
  return isWhole ? `a whole number from ${above + 1} to ${most}` : `a number above ${above}, and at most ${most}`;
}

/** @returns the rows that join a rule to its channels. @throws {ApiError} for a channel that the account does not have, or twice. */
export async function checkChannels(db: Db, accountId: string, ids: readonly string[]) {
  if (ids.length > CHANNELS_MAX) throw new ApiError('alertListTooLong', { member: 'channelIds', max: CHANNELS_MAX });
  const rows = await db.alertChannel.findMany({ where: { accountId, id: { in: [...ids] } }, select: { id: true } });
  const known = new Set(rows.map(({ id }) => id));
  checkEach(ids, (id, index) => {
    const member = `channelIds[${index}]`;
    if (!known.has(id)) throw new ApiError('unknownAlertSubject', { member, kind: 'an alert channel' });
    if (ids.indexOf(id) < index) throw new ApiError('alertChannelRepeated', { member });
  });
  return ids.map((channelId, position) => ({ channelId, position }));
}
