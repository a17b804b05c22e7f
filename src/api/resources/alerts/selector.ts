// What a rule watches, or a silence is about: one type and one input for both.

import { type Condition, conditionOf, type SelectorMember } from '../../../alerts/conditions.ts';
import type { Db } from '../../../store/database/client.ts';
import { builder } from '../../builder/builder.ts';
import { references, typeOfKind } from '../../collections/references.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';

const IDS_MAX = 100;
const PATTERN_MAX_BYTES = 255;
const LABEL_MAX_BYTES = 255;

/** The columns of a selector. */
export interface Selector {
  addressPattern: string;
  label: string;
  credentialIds: string[];
  certificateIds: string[];
  destinationIds: string[];
}

export const selectorColumns = {
  addressPattern: true,
  label: true,
  credentialIds: true,
  certificateIds: true,
  destinationIds: true,
} as const satisfies Record<keyof Selector, true>;

export const AlertSelector = builder.objectRef<Selector>('AlertSelector').implement({
  description: 'What is meant of all that an account has. A member that is empty leaves nothing out.',
  fields: (t) => ({
    addressPattern: t.exposeString('addressPattern', {
      description: 'Of endpoints: a pattern of their addresses, in which `*` is any text.',
    }),
    label: t.exposeString('label', {
      description: 'Of agents, and of endpoints by their agents: a label, `site=berlin`, or `site` with any value.',
    }),
    credentialIds: t.exposeIDList('credentialIds', {
      description: 'Of agents, and of endpoints by their agents: the ids of the credentials that they connect with.',
    }),
    certificateIds: t.exposeIDList('certificateIds', { description: 'The ids of TLS certificates.' }),
    destinationIds: t.exposeIDList('destinationIds', { description: 'The ids of event destinations.' }),
    credentials: t.field({
      type: [typeOfKind('credential')],
      description: 'The credentials, without those that are gone.',
      resolve: references(({ credentialIds }) => credentialIds),
    }),
    certificates: t.field({
      type: [typeOfKind('tlsCertificate')],
      description: 'The TLS certificates, without those that are gone.',
      resolve: references(({ certificateIds }) => certificateIds),
    }),
    destinations: t.field({
      type: [typeOfKind('eventDestination')],
      description: 'The event destinations, without those that are gone.',
      resolve: references(({ destinationIds }) => destinationIds),
    }),
  }),
});

export const AlertSelectorInput = builder.inputType('AlertSelectorInput', {
  description: 'What is meant of all that an account has. What is left out leaves nothing out.',
  fields: (t) => ({
    addressPattern: t.string({
      description:
        'Of endpoints: a pattern of their names (`device-*.example.com`), of names with ports (`*:20001`) or of URLs ' +
        '(`tcp://*`), in which `*` is any text; at most 255 bytes.',
    }),
    label: t.string({
      description:
        'Of agents, and of endpoints by their agents: a label, `site=berlin`, or `site` with any value; at most 255 bytes.',
    }),
    credentialIds: t.idList({
      description:
        'Of agents, and of endpoints by their agents: the ids of the credentials that they connect with; at most 100.',
    }),
    certificateIds: t.idList({ description: 'The ids of TLS certificates; at most 100.' }),
    destinationIds: t.idList({ description: 'The ids of event destinations; at most 100.' }),
  }),
});

type GivenSelector = typeof AlertSelectorInput.$inferInput;

const memberNames = Object.keys(selectorColumns) as SelectorMember[]; // They are its literal keys.

/** @returns the columns of a whole selector. @throws {ApiError} naming the members that are wrong. */
export function checkSelector(given: GivenSelector): Selector {
  const { addressPattern, credentialIds, certificateIds, destinationIds } = given;
  return checkAll({
    addressPattern: () => checkPattern(addressPattern ?? ''),
    label: () => checkLabel(given.label ?? ''),
    credentialIds: () => checkIds('credentialIds', credentialIds),
    certificateIds: () => checkIds('certificateIds', certificateIds),
    destinationIds: () => checkIds('destinationIds', destinationIds),
  });
}

function checkPattern(pattern: string): string {
  if (/^\S*$/.test(pattern) && Buffer.byteLength(pattern) <= PATTERN_MAX_BYTES) return pattern;
  throw new ApiError('alertPatternWrong', { member: 'selector.addressPattern', max: PATTERN_MAX_BYTES });
}

function checkLabel(label: string): string {
  if (label === '' || (/^[^=\s]+(=[^\n\r]*)?$/.test(label) && Buffer.byteLength(label) <= LABEL_MAX_BYTES))
    return label;
  throw new ApiError('alertLabelWrong', { member: 'selector.label', max: LABEL_MAX_BYTES });
}

function checkIds(name: string, ids: readonly string[] | null | undefined): string[] {
  const member = `selector.${name}`;
  if (ids && ids.length > IDS_MAX) throw new ApiError('alertListTooLong', { member, max: IDS_MAX });
  return [...new Set(ids ?? [])];
}

/** @throws {ApiError} when a selector narrows by something that the condition does not have. */
export function checkFits(selector: Selector, condition: Condition): void {
  const { selectors } = conditionOf(condition);
  checkEach(memberNames, (name) => {
    if (selector[name].length === 0 || selectors.includes(name)) return;
    const member = `selector.${name}${Array.isArray(selector[name]) ? '[0]' : ''}`;
    throw new ApiError('alertSelectorRefused', { member, condition, known: selectors.join(', ') });
  });
}

/** Whether nothing is left out. */
export function isEmptySelector(selector: Selector): boolean {
  return memberNames.every((name) => selector[name].length === 0);
}

/** @throws {ApiError} for an id of something that the account does not have. */
export async function checkSubjects(db: Db, accountId: string, selector: Selector): Promise<void> {
  const queryOf = (ids: string[]) => ({ where: { accountId, id: { in: ids } }, select: { id: true } });
  const { credentialIds, certificateIds, destinationIds } = selector;
  const check = async (
    name: string,
    kind: string,
    ids: string[],
    find: (query: ReturnType<typeof queryOf>) => PromiseLike<readonly { id: string }[]>,
  ) => {
    if (ids.length === 0) return;
    const known = new Set((await find(queryOf(ids))).map(({ id }) => id));
    checkEach(ids, (id, index) => {
      if (!known.has(id)) throw new ApiError('unknownAlertSubject', { member: `selector.${name}[${index}]`, kind });
    });
  };
  await checkAll({
    credentials: () => check('credentialIds', 'a credential', credentialIds, (q) => db.credential.findMany(q)),
    certificates: () =>
      check('certificateIds', 'a TLS certificate', certificateIds, (q) => db.tlsCertificate.findMany(q)),
    destinations: () =>
      check('destinationIds', 'an event destination', destinationIds, (q) => db.eventDestination.findMany(q)),
  });
}
