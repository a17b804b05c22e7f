// Alerts: what was wrong and since when, and who was told.

import { type Condition, conditionNames } from '../../../alerts/conditions.ts';
import type { AffectedObject } from '../../../alerts/finding.ts';
import { builder } from '../../builder/builder.ts';
import { collection, Node, registerResource } from '../../collections/collection.ts';
import { asStored, choice, ID_MEMBER, id, text, time } from '../../collections/members.ts';
import { givesObject, mutation } from '../../collections/mutation.ts';
import { connectionOf } from '../../collections/page.ts';
import { reference, WHEN_GONE } from '../../collections/references.ts';
import { named, related } from '../../collections/related.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { checkBytes } from '../../text-limits.ts';
import { AlertChannel } from './channel-type.ts';
import { callerName } from './input-checks.ts';
import { AlertConditionType, AlertSeverityType } from './rule-input.ts';
import { AlertRule } from './rules.ts';

const NOTE_MAX_BYTES = 1000;
/** Notifications that an alert shows, the newest first. */

const AlertStateType = builder.enumType('AlertState', {
  description: 'How an alert stands.',
  values: {
    FIRING: { description: 'It is wrong now.' },
    ACKNOWLEDGED: { description: 'It is wrong now, and somebody is on it: it is told again only when it is resolved.' },
    RESOLVED: { description: 'It is over.' },
  } as const,
});

const AlertSubject = builder.objectRef<AffectedObject>('AlertSubject').implement({
  description: 'One of those that an alert is about: an endpoint, a certificate or an event destination.',
  fields: (t) => ({
    objectId: t.exposeID('id', { description: 'Its id, which may be gone by now.' }),
    object: t.field({
      type: Node,
      nullable: true,
      description: `The object. ${WHEN_GONE}`,
      resolve: reference(({ id }) => id),
    }),
    name: t.exposeString('name', {
      description: 'What it is known by: the URL of an endpoint, the names of a certificate.',
    }),
    since: t.field({
      type: 'Timestamp',
      description: 'Since when it is affected.',
      resolve: ({ since }) => new Date(since),
    }),
    detail: t.exposeString('detail', { description: 'Why, or until when, on one line.' }),
  }),
});

const AlertNotificationKind = builder.enumType('AlertNotificationKind', {
  description: 'What a notification tells of an alert.',
  values: {
    FIRED: { description: 'The alert fired.' },
    GREW: { description: 'It is about more than when it was told last.' },
    RESOLVED: { description: 'The alert is over.' },
  } as const,
});

const AlertNotification = builder.prismaObject('AlertNotification', {
  description: 'What a channel was told of an alert, or is yet to be told.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, which it carries: `aln_…`.' }),
    kind: t.expose('kind', { type: AlertNotificationKind, description: 'What it tells.' }),
    channel: t.relation('channel', { type: AlertChannel, description: 'Who is told.' }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was written.' }),
    sentAt: t.expose('sentAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it was taken; null when it was not.',
    }),
    nextAttemptAt: t.expose('nextAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it is tried next; null when it was taken, or given up after a day.',
    }),
    failures: t.exposeInt('attempts', { description: 'How many attempts failed.' }),
    error: t.string({
      nullable: true,
      description: 'Why the last attempt failed, on one line; null when none did.',
      select: { error: true },
      resolve: ({ error }) => error || null,
    }),
  }),
});

registerResource({
  kind: 'alertNotification',
  prefix: 'aln',
  typeName: 'AlertNotification',
  ref: AlertNotification,
  table: (db) => db.alertNotification,
});
connectionOf(AlertNotification, 'AlertNotification', { isInRest: false });

const Alert = builder.prismaObject('Alert', {
  description:
    'Something that is or was wrong: one of a rule at a time, whatever the number of those that it is about. Resolved ones ' +
    'are kept for 30 days; of each account the newest 1,000.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `al_…`.' }),
    rule: t.relation('rule', {
      type: AlertRule,
      nullable: true,
      description: 'The rule that it is of; null when that has been deleted.',
    }),
    name: t.exposeString('name', { description: 'The name of the rule when it fired.' }),
    condition: t.field({
      type: AlertConditionType,
      description: 'What the rule watches.',
      select: { condition: true },
      resolve: ({ condition }) => condition as Condition, // The API lets no other one in.
    }),
    severity: t.expose('severity', { type: AlertSeverityType, description: 'How urgent it is.' }),
    state: t.expose('state', { type: AlertStateType, description: 'How it stands.' }),
    since: t.expose('since', { type: 'Timestamp', description: 'Since when it is wrong, before it fired.' }),
    firedAt: t.expose('firedAt', { type: 'Timestamp', description: 'When it fired.' }),
    resolvedAt: t.expose('resolvedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it was resolved; null while it is not.',
    }),
    subjectCount: t.exposeInt('subjectCount', { description: 'How many it is about.' }),
    subjects: t.field({
      type: [AlertSubject],
      description: 'The first 20 of them, those that are affected for the longest time first.',
      select: { subjects: true },
      resolve: ({ subjects }) => subjects as unknown as AffectedObject[], // Only the evaluation writes them.
    }),
    value: t.exposeFloat('value', {
      description:
        'What the condition compares: a share, or the highest number of waiting events; 0 where it compares none.',
    }),
    acknowledgedAt: t.expose('acknowledgedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When somebody acknowledged it; null when nobody did.',
    }),
    acknowledgedBy: t.exposeString('acknowledgedBy', { description: 'Who acknowledged it; "" when nobody did.' }),
    note: t.exposeString('note', { description: 'What was said with that.' }),
    remark: t.exposeString('remark', {
      description: 'What else is to be said of it: why it was resolved, and who could not be told. Mostly "".',
    }),
    notifications: related(t, {
      ...{ kind: 'alertNotification', table: 'alert_notification', on: named('alert_id'), isPart: true },
      description: 'Who was told, or is yet to be.',
    }),
  }),
});

const alerts = collection({
  kind: 'alert',
  prefix: 'al',
  path: '/alerts',
  single: 'alert',
  plural: 'alerts',
  typeName: 'Alert',
  ref: Alert,
  members: {
    ...ID_MEMBER,
    name: text('name'),
    state: choice('state', AlertStateType, asStored('FIRING', 'ACKNOWLEDGED', 'RESOLVED')),
    severity: choice('severity', AlertSeverityType, asStored('INFO', 'WARNING', 'CRITICAL')),
    condition: choice('condition', AlertConditionType, asStored(...conditionNames)),
    'rule.id': id('ruleId', { isNullable: true }),
    since: time('since', { isOrdered: false }),
    fired_at: time('firedAt', { isOrdered: false }),
    resolved_at: time('resolvedAt', { isNullable: true, isOrdered: false }),
    note: text('note'),
  },
  table: (db) => db.alert,
  search: {
    ...{ rank: 189, table: 'alert', title: 't.name', detail: 'lower(t.state::text)' },
    texts: ['t.name', 't.note'],
  },
});

builder.queryField('openAlerts', (t) =>
  t.prismaField({
    type: [Alert],
    nullable: true,
    access: { kind: 'alert' },
    description:
      'The alerts of your account that are not resolved: those that fire before those that are acknowledged, the newest ' +
      'first. There are at most as many as rules.',
    resolve: (query, _, __, { db, accountId }) =>
      db.alert.findMany({
        ...query,
        where: { accountId, NOT: { state: 'RESOLVED' } },
        orderBy: [{ state: 'asc' }, { id: 'desc' }],
      }),
  }),
);

mutation('acknowledgeAlert', givesObject('alert'), (t) =>
  t.prismaField({
    type: Alert,
    nullable: true,
    access: { kind: 'alert', adminsOnly: 'adminsOnly' },
    description:
      'Says that somebody is on it: the alert is not told again while it grows, only when it is resolved. Acknowledged ' +
      'again, it has the new note.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the alert.' }),
      note: t.arg.string({ description: 'What is to be said with that; at most 1000 bytes.' }),
    },
    resolve: async (query, _, { id, note }, context) => {
      const { accountId, app } = context;
      if (note) checkBytes('note', note, NOTE_MAX_BYTES, 'descriptionTooLong');
      const acknowledgedBy = await callerName(context);
      return context.act(async (db, announce) => {
        const where = { id, accountId };
        const data = {
          state: 'ACKNOWLEDGED',
          acknowledgedAt: new Date(app.now()),
          acknowledgedBy,
          note: note ?? '',
        } as const;
        const { count } = await db.alert.updateMany({ where: { ...where, NOT: { state: 'RESOLVED' } }, data });
        const alert = requireFound(await db.alert.findUnique({ ...query, where }), 'alert');
        if (count === 0) throw new ApiError('alertResolved');
        const { kind } = alerts;
        announce({ kind, action: 'UPDATED', id, accountId });
        const act = { action: 'ALERT_ACKNOWLEDGED', kind, objectId: id, objectName: alert.name } as const;
        return { result: alert, acts: [act] };
      });
    },
  }),
);

/** There is no REST path for them. */
export const routes: Route[] = [];
