// Alert silences: what is not told for a while.

import type { Db } from '../../../store/database/client.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { ID_MEMBER, id, text, time } from '../../collections/members.ts';
import { resource } from '../../collections/resource.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, outcomeOf } from '../../errors/problems.ts';
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

export const { routes } = resource({
  kind: 'alertSilence',
  model: 'AlertSilence',
  prefix: 'als',
  path: '/alert_silences',
  ref: AlertSilence,
  adminsOnly: 'adminsOnly',
  notes: null,
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
  audit: {
    ...{ name: 'alert_silence', subject: 'An alert silence' },
    selection:
      'id createdAt createdBy rule { id } selector { addressPattern label credentialIds certificateIds destinationIds } until reason',
  },
  search: {
    ...{ rank: 192, table: 'alert_silence', title: 't.reason', detail: 't.address_pattern' },
    texts: ['t.reason', 't.address_pattern'],
  },
  create: {
    description: `Silences alerts for a while. An account may have ${SILENCES_MAX} silences.`,
    note: 'It is of a rule, of what a selector selects, or both.',
    input: (t) => ({
      ruleId: t.id({ description: 'The id of the rule that it is for; all rules, when left out.' }),
      selector: t.field({
        type: AlertSelectorInput,
        description: 'What to silence; the rule as a whole, when left out.',
      }),
      minutes: t.int({ required: true, description: 'After how many minutes it ends, 1 to 525600.' }),
      reason: t.string({ description: 'Why, for people; at most 255 bytes.' }),
    }),
    async write(input, context) {
      const { accountId, app } = context;
      const { ruleId, minutes } = input;
      const selectorOf = outcomeOf(() => {
        const selector = checkSelector(input.selector ?? {});
        if (!ruleId && isEmptySelector(selector)) throw new ApiError('alertSilenceEmpty', { member: 'ruleId' });
        return selector;
      });
      const createdBy = await callerName(context);
      return async (save, db) => {
        const count = () => db.alertSilence.count({ where: { accountId } });
        const { selector, reason } = await checkAll({
          selector: selectorOf,
          minutes: () => checkNumber('minutes', minutes, MINUTES),
          reason: () => checkReason(input.reason),
          room: () => checkRoom(db, accountId, { kind: 'alert silences', max: SILENCES_MAX, count }),
          rule: async () => ruleId && (await checkRuleId(db, ruleId, accountId)),
          subjects: () => checkSubjects(db, accountId, selectorOf()),
        });
        const at = app.now();
        const times = { createdAt: new Date(at), until: new Date(at + minutes * MINUTE_MS) };
        return save({ ruleId: ruleId || null, ...selector, reason, createdBy, ...times });
      };
    },
  },
  update: {
    description: 'Changes how long a silence lasts, and its reason.',
    input: (t) => ({
      minutes: t.int({ description: 'After how many minutes from now it ends, 1 to 525600.' }),
      reason: t.string({ description: 'Why, for people; at most 255 bytes. "" clears it.' }),
    }),
    write({ minutes, reason }, { app }) {
      const given = checkAll({
        minutes: () => checkNumber('minutes', minutes, MINUTES),
        reason: () => (reason == null ? undefined : checkReason(reason)),
      });
      const until = given.minutes === undefined ? undefined : new Date(app.now() + given.minutes * MINUTE_MS);
      return { until, reason: given.reason };
    },
  },
  remove: {
    description: 'Ends a silence. Alerts that nobody was told of because of it are told then. Answers with its id.',
  },
});

function checkReason(reason: string | null | undefined): string {
  if (reason) checkBytes('reason', reason, DESCRIPTION_MAX_BYTES, 'descriptionTooLong');
  return reason ?? '';
}

async function checkRuleId(db: Db, id: string, accountId: string): Promise<void> {
  const rule = await db.alertRule.findUnique({ where: { id, accountId }, select: { id: true } });
  if (!rule) throw new ApiError('unknownAlertSubject', { member: 'ruleId', kind: 'an alert rule' });
}
