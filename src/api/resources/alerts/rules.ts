// Alert rules: what an account wants to be told of.

import { type Condition, conditionNames, conditionOf } from '../../../alerts/conditions.ts';
import type { Db } from '../../../store/database/client.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { asStored, boolean, choice, ID_MEMBER, relatedTexts, text, time } from '../../collections/members.ts';
import { named, related } from '../../collections/related.ts';
import { resource } from '../../collections/resource.ts';
import { requireFound } from '../../errors/errors.ts';
import { checkAll, outcomeOf } from '../../errors/problems.ts';
import { AlertChannel } from './channel-type.ts';
import { checkRoom } from './input-checks.ts';
import {
  AlertConditionType,
  AlertSeverityType,
  changedRuleMembers,
  checkChannels,
  checkRule,
  newRuleMembers,
  requireThreshold,
} from './rule-input.ts';
import { AlertSelector, checkSubjects, selectorColumns } from './selector.ts';

const RULES_MAX = 100;

export const AlertRule = builder.prismaObject('AlertRule', {
  description:
    'What an account wants to be told of. A rule has one alert at a time, however many endpoints it is about; it is ' +
    'evaluated every few seconds.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `alr_…`.' }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    name: t.exposeString('name', { description: 'What it is called in notifications.' }),
    description: t.exposeString('description', { description: 'What is to be done then, for people.' }),
    condition: t.field({
      type: AlertConditionType,
      description: 'What it watches.',
      select: { condition: true },
      resolve: ({ condition }) => condition as Condition, // The API lets no other one in.
    }),
    threshold: t.float({
      nullable: true,
      description:
        'What the condition compares: a share, a number of days or of events; null where it compares nothing.',
      select: { condition: true, threshold: true },
      resolve: ({ condition, threshold }) => (conditionOf(condition as Condition).threshold ? threshold : null),
    }),
    forSeconds: t.exposeInt('forSeconds', { description: 'How long it has to hold before an alert fires; seconds.' }),
    resolveSeconds: t.exposeInt('resolveSeconds', {
      description: 'How long all has to be well before an alert is resolved; seconds.',
    }),
    updateMinutes: t.exposeInt('updateMinutes', {
      description: 'How often a growing alert is told again at most; minutes.',
    }),
    severity: t.expose('severity', { type: AlertSeverityType, description: 'How urgent its alerts are.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it is evaluated.' }),
    selector: t.field({
      type: AlertSelector,
      description: 'What it watches of all that the account has.',
      select: selectorColumns,
      resolve: (row) => row,
    }),
    channels: t.field({
      type: [AlertChannel],
      description: 'The channels that are told, in the order they were given.',
      select: (_args, _context, nested) => ({
        channels: { select: { channel: nested() }, orderBy: { position: 'asc' } },
      }),
      resolve: ({ channels }) => channels.map(({ channel }) => channel),
    }),
    alerts: related(t, {
      ...{ kind: 'alert', on: named('rule_id'), member: 'rule.id' },
      description: 'Its alerts: one at most that is not resolved, and those that are.',
    }),
  }),
});

export const { routes } = resource({
  kind: 'alertRule',
  model: 'AlertRule',
  prefix: 'alr',
  path: '/alert_rules',
  ref: AlertRule,
  adminsOnly: 'adminsOnly',
  notes: null,
  members: {
    ...ID_MEMBER,
    created_at: time('createdAt', { isOrdered: false }),
    name: text('name'),
    description: text('description'),
    condition: choice('condition', AlertConditionType, asStored(...conditionNames)),
    severity: choice('severity', AlertSeverityType, asStored('INFO', 'WARNING', 'CRITICAL')),
    enabled: boolean('enabled'),
    channels: relatedTexts('channels', 'channelId'),
  },
  audit: {
    ...{ name: 'alert_rule', subject: 'An alert rule' },
    selection:
      'id createdAt name description condition threshold forSeconds resolveSeconds updateMinutes severity enabled ' +
      'selector { addressPattern label credentialIds certificateIds destinationIds } channels { id }',
  },
  search: {
    ...{ rank: 190, table: 'alert_rule', title: 't.name', detail: 't.description' },
    texts: ['t.name', 't.description'],
  },
  create: {
    description: `Creates an alert rule, of which an account may have ${RULES_MAX}. It is evaluated within a few seconds.`,
    input: newRuleMembers,
    write(input, { accountId }) {
      const { condition, name } = input;
      const ruleOf = outcomeOf(
        () =>
          checkAll({
            threshold: () => requireThreshold(input.threshold, condition),
            columns: () => checkRule(input, condition),
          }).columns,
      );
      return async (save, db) => {
        const count = () => db.alertRule.count({ where: { accountId } });
        const { columns, channels } = await checkAll({
          columns: ruleOf,
          room: () => checkRoom(db, accountId, { kind: 'alert rules', max: RULES_MAX, count }),
          subjects: () => checkSubjects(db, accountId, { ...NO_SELECTOR, ...dropUndefined(ruleOf()) }),
          channels: () => checkChannels(db, accountId, input.channelIds ?? []),
        });
        return save({
          ...{ forSeconds: 0, resolveSeconds: 0, updateMinutes: 30, severity: 'WARNING' as const },
          ...dropUndefined(columns),
          ...{ condition, name: columns.name ?? name },
          channels: { createMany: { data: channels } },
        });
      };
    },
  },
  update: {
    description: 'Changes an alert rule. Its alert, if it has one, goes on or is resolved by what the rule says then.',
    input: changedRuleMembers,
    write:
      (input, { accountId }, id) =>
      async (save, db) => {
        const where = { id, accountId };
        await lockRule(db, where);
        const row = requireFound(await db.alertRule.findUnique({ where, select: { condition: true } }), 'alert rule');
        const ruleOf = outcomeOf(() => checkRule(input, row.condition as Condition));
        const { data, channels } = await checkAll({
          data: ruleOf,
          subjects: () => checkSubjects(db, accountId, { ...NO_SELECTOR, ...dropUndefined(ruleOf()) }),
          channels: async () => input.channelIds && (await checkChannels(db, accountId, input.channelIds)),
        });
        if (channels) await replaceChannels(db, id, channels);
        return save(data);
      },
  },
  remove: {
    description: 'Deletes an alert rule. Its alert is resolved, and nobody is told. Answers with the id of the rule.',
    async before(db, id) {
      await db.$queryRaw`SELECT id FROM alert_rule WHERE id = ${id} FOR UPDATE`;
      await db.alert.updateMany({
        where: { openRuleId: id },
        data: { state: 'RESOLVED', resolvedAt: new Date(), openRuleId: null, remark: 'The rule was deleted.' },
      });
    },
  },
});

const NO_SELECTOR = { addressPattern: '', label: '', credentialIds: [], certificateIds: [], destinationIds: [] };

/** Whoever evaluates the rule waits, or is done. */
async function lockRule(db: Db, { id, accountId }: { id: string; accountId: string }): Promise<void> {
  await db.$queryRaw`SELECT id FROM alert_rule WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
}

async function replaceChannels(
  db: Db,
  ruleId: string,
  channels: Awaited<ReturnType<typeof checkChannels>>,
): Promise<void> {
  await db.alertRuleChannel.deleteMany({ where: { ruleId } });
  await db.alertRuleChannel.createMany({ data: channels.map((channel) => ({ ...channel, ruleId })) });
}

function dropUndefined<T extends object>(columns: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(columns).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}
