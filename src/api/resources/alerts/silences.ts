// Alert silences: what is not told for a while.

import type { Db } from '../../../store/database/client.ts';
import { newId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node } from '../../collections/collection.ts';
import { ID_MEMBER, id, text, time } from '../../collections/members.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import type { Route } from '../../route.ts';
import { checkBytes, DESCRIPTION_MAX_BYTES } from '../../text-limits.ts';
import { callerName, checkNumber, checkRoom } from './input-checks.ts';
import { AlertRule } from './rules.ts';
import {
  AlertSelector,
  AlertSelectorInput,
  checkSelector,
  checkSubjects,
  isEmptySelector,
  selectorColumns,
} from './selector.ts';

const SILENCES_MAX = 100;
const MINUTE_MS = 60_000;
/** From a minute to a year. */
const MINUTES = { min: 1, max: 525_600 };

const AlertSilence = builder.prismaObject('AlertSilence', {
  description:
    'What is not told for a while. With a rule alone, its alert goes on without notifications. With a selector, what it ' +
    'selects counts for no rule, or for the one that is named, as if all were well with it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `als_…`.' }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    createdBy: t.exposeString('createdBy', { description: 'Who created it.' }),
    rule: t.relation('rule', {
      type: AlertRule,
      nullable: true,
      description: 'The rule that it is for; null: for all.',
    }),
    selector: t.field({
      type: AlertSelector,
      description: 'What is silenced of all that the account has; nothing in it: the rule as a whole.',
      select: selectorColumns,
      resolve: (row) => row,
    }),
    until: t.expose('until', { type: 'Timestamp', description: 'When it ends. A day later it is deleted.' }),
    reason: t.exposeString('reason', { description: 'Why, for people.' }),
  }),
});

const alertSilences = collection({
  kind: 'alertSilence',
  prefix: 'als',
  path: '/alert_silences',
  single: 'alertSilence',
  plural: 'alertSilences',
  typeName: 'AlertSilence',
  ref: AlertSilence,
  members: {
    ...ID_MEMBER,
    created_at: time('createdAt', { isOrdered: false }),
    created_by: text('createdBy'),
    until: time('until', { isOrdered: false }),
    reason: text('reason'),
    address_pattern: text('addressPattern'),
    label: text('label'),
    'rule.id': id('ruleId', { isNullable: true }),
  },
  table: (db) => db.alertSilence,
  audit: {
    ...{ name: 'alert_silence', subject: 'An alert silence' },
    selection:
      'id createdAt createdBy rule { id } selector { addressPattern label credentialIds certificateIds destinationIds } until reason',
  },
  search: {
    ...{ rank: 192, table: 'alert_silence', title: 't.reason', detail: 't.address_pattern' },
    texts: ['t.reason', 't.address_pattern'],
  },
});

const CreateAlertSilenceInput = builder.inputType('CreateAlertSilenceInput', {
  description: 'A new alert silence: of a rule, of what a selector selects, or both.',
  fields: (t) => ({
    ruleId: t.id({ description: 'The id of the rule that it is for; all rules, when left out.' }),
    selector: t.field({
      type: AlertSelectorInput,
      description: 'What to silence; the rule as a whole, when left out.',
    }),
    minutes: t.int({ required: true, description: 'After how many minutes it ends, 1 to 525600.' }),
    reason: t.string({ description: 'Why, for people; at most 255 bytes.' }),
  }),
});

const UpdateAlertSilenceInput = builder.inputType('UpdateAlertSilenceInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    minutes: t.int({ description: 'After how many minutes from now it ends, 1 to 525600.' }),
    reason: t.string({ description: 'Why, for people; at most 255 bytes. "" clears it.' }),
  }),
});

builder.mutationField('createAlertSilence', (t) =>
  t.prismaField({
    type: AlertSilence,
    nullable: true,
    access: { kind: 'alertSilence', adminsOnly: 'adminsOnly' },
    description: `Silences alerts for a while. An account may have ${SILENCES_MAX} silences.`,
    args: {
      input: t.arg({ type: CreateAlertSilenceInput, required: true, description: 'The alert silence.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (query, _, { input }, context) => {
      const { accountId, app } = context;
      const { ruleId, minutes } = input;
      const selector = checkSelector(input.selector ?? {});
      if (!ruleId && isEmptySelector(selector)) throw new ApiError('alertSilenceEmpty', { member: 'ruleId' });
      checkNumber('minutes', minutes, MINUTES);
      const at = app.now();
      const data = {
        ...{
          id: newId(alertSilences.prefix),
          accountId,
          ruleId: ruleId || null,
          ...selector,
          reason: checkReason(input.reason),
        },
        ...{ createdAt: new Date(at), until: new Date(at + minutes * MINUTE_MS), createdBy: await callerName(context) },
      };
      return context.create(alertSilences, async (db) => {
        const count = () => db.alertSilence.count({ where: { accountId } });
        await checkRoom(db, accountId, { kind: 'alert silences', max: SILENCES_MAX, count });
        if (ruleId) await checkRuleId(db, ruleId, accountId);
        await checkSubjects(db, accountId, selector);
        return db.alertSilence.create({ ...query, data });
      });
    },
  }),
);

builder.mutationField('updateAlertSilence', (t) =>
  t.prismaField({
    type: AlertSilence,
    nullable: true,
    access: { kind: 'alertSilence', adminsOnly: 'adminsOnly' },
    description: 'Changes how long a silence lasts, and its reason.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the alert silence.' }),
      input: t.arg({ type: UpdateAlertSilenceInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const minutes = checkNumber('minutes', input.minutes, MINUTES);
      const until = minutes === undefined ? undefined : new Date(context.app.now() + minutes * MINUTE_MS);
      const data = { until, reason: input.reason == null ? undefined : checkReason(input.reason) };
      return context.update(alertSilences, id, (db) => db.alertSilence.update({ ...query, where, data }));
    },
  }),
);

deleteMutation(alertSilences, 'deleteAlertSilence', {
  description: 'Ends a silence. Alerts that nobody was told of because of it are told then. Answers with its id.',
  adminsOnly: 'adminsOnly',
});

function checkReason(reason: string | null | undefined): string {
  if (reason) checkBytes('reason', reason, DESCRIPTION_MAX_BYTES, 'descriptionTooLong');
  return reason ?? '';
}

async function checkRuleId(db: Db, id: string, accountId: string): Promise<void> {
  const rule = await db.alertRule.findUnique({ where: { id, accountId }, select: { id: true } });
  if (!rule) throw new ApiError('unknownAlertSubject', { member: 'ruleId', kind: 'an alert rule' });
}

/** There is no REST path for them. */
export const routes: Route[] = [];
