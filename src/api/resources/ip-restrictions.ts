// IP restrictions: from which addresses an account may be used, in each of four ways.

import type { Db } from '../../store/database/client.ts';
import type { IpRestrictionType } from '../../store/generated/prisma/enums.ts';
import { newId } from '../../store/ids.ts';
import { builder, Ref } from '../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../collections/collection.ts';
import { boolean, choice, NOTED_MEMBERS } from '../collections/members.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { checkPolicyIds, IP_POLICIES_MAX } from '../modules/chosen-ip-policies.ts';
import { searchByNotes } from '../resource.ts';
import { route } from '../route.ts';
import { checkTexts } from '../text-limits.ts';
import { keepingOwnAddress } from './own-address.ts';

const TYPES = { dashboard: 'DASHBOARD', api: 'API', agent: 'AGENT', endpoints: 'ENDPOINTS' } as const;
const ERRORS = {
  none: 'restrictionPoliciesMissing',
  tooMany: 'tooManyRestrictionPolicies',
  unknown: 'unknownRestrictionPolicy',
} as const;

const typeHelp =
  '`dashboard`: browser sessions, and signing in. `api`: REST and GraphQL with API keys. `agent`: agents that connect. ' +
  '`endpoints`: the visitors of all endpoints: of tunnels, of edges and of the cloud.';
const enforcedHelp =
  'Whether other addresses are refused. With `false`, they are let in, and the log of the gateway says that they would not be.';

const AccountIpRestriction = builder.prismaObject('AccountIpRestriction', {
  description:
    'From which addresses your account may be used in one way: from those that one of its IP policies allows, and none denies.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ipx_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/ip_restrictions/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    type: t.string({
      description: `What it is about. ${typeHelp}`,
      select: { type: true },
      resolve: ({ type }) => type.toLowerCase(),
    }),
    enforced: t.exposeBoolean('enforced', { description: enforcedHelp }),
    ipPolicies: t.field({
      type: [Ref],
      description: 'The IP policies, in the order in which they were given.',
      select: { policies: { select: { policyId: true }, orderBy: { position: 'asc' } } },
      resolve: ({ policies }) => policies.map(({ policyId: id }) => ({ id, path: `/ip_policies/${id}` })),
    }),
  }),
});

const accountIpRestrictions = collection({
  kind: 'accountIpRestriction',
  prefix: 'ipx',
  path: '/ip_restrictions',
  single: 'accountIpRestriction',
  plural: 'accountIpRestrictions',
  typeName: 'AccountIpRestriction',
  ref: AccountIpRestriction,
  members: { ...NOTED_MEMBERS, type: choice('type', TYPES), enforced: boolean('enforced') },
  table: (db) => db.accountIpRestriction,
  audit: { name: 'ip_restriction', subject: 'An IP restriction' },
  conflicts: { taken: 'restrictionTypeTaken' },
  search: searchByNotes(163, 'account_ip_restriction'),
});

const policyIdsHelp = `The ids of 1 to ${IP_POLICIES_MAX} IP policies of your account.`;

const CreateAccountIpRestrictionInput = builder.inputType('CreateAccountIpRestrictionInput', {
  description: 'A new account IP restriction.',
  fields: (t) => ({
    type: t.string({ required: true, description: `What it is about; an account has one of each type. ${typeHelp}` }),
    enforced: t.boolean({ description: `${enforcedHelp} Default false.` }),
    ipPolicyIds: t.idList({ required: true, description: policyIdsHelp }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const UpdateAccountIpRestrictionInput = builder.inputType('UpdateAccountIpRestrictionInput', {
  description: 'What to change; a member left out or null stays as it is. The type stays for good.',
  fields: (t) => ({
    enforced: t.boolean({ description: enforcedHelp }),
    ipPolicyIds: t.idList({
      description: `${policyIdsHelp} They replace those that it has; an empty list changes nothing.`,
    }),
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
  }),
});

const lockOutHelp =
  'It is refused when a restriction of `api` or `dashboard` would refuse the address that you ask from. Only admins may.';

builder.mutationField('createAccountIpRestriction', (t) =>
  t.prismaField({
    type: AccountIpRestriction,
    nullable: true,
    access: { kind: 'accountIpRestriction', adminsOnly: 'adminsOnly' },
    description: `Creates an IP restriction, which acts at once. ${lockOutHelp}`,
    args: {
      input: t.arg({
        type: CreateAccountIpRestrictionInput,
        required: true,
        description: 'The account IP restriction.',
      }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId } = context;
      const { ipPolicyIds, enforced } = input;
      const data = {
        ...{ ...checkTexts(input), id: newId(accountIpRestrictions.prefix), accountId },
        ...{ type: checkType(input.type), enforced: enforced ?? false },
      };
      return context.create(accountIpRestrictions, async (db) => {
        const policies = { create: await chosenPolicies(context, db, ipPolicyIds) };
        const write = () => db.accountIpRestriction.create({ ...query, data: { ...data, policies } });
        return keepingOwnAddress(context, db, write);
      });
    },
  }),
);

builder.mutationField('updateAccountIpRestriction', (t) =>
  t.prismaField({
    type: AccountIpRestriction,
    nullable: true,
    access: { kind: 'accountIpRestriction', adminsOnly: 'adminsOnly' },
    description: `Changes an IP restriction; the change acts at once. ${lockOutHelp}`,
    args: {
      id: t.arg.id({ required: true, description: 'The id of the account IP restriction.' }),
      input: t.arg({ type: UpdateAccountIpRestrictionInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const { ipPolicyIds, enforced } = input;
      return context.update(accountIpRestrictions, id, async (db) => {
        const isChosen = ipPolicyIds != null && ipPolicyIds.length > 0;
        const create = isChosen ? await chosenPolicies(context, db, ipPolicyIds) : [];
        const policies = isChosen ? { deleteMany: {}, create } : undefined;
        const data = { ...checkTexts(input), enforced: enforced ?? undefined, policies };
        return keepingOwnAddress(context, db, () => db.accountIpRestriction.update({ ...query, where, data }));
      });
    },
  }),
);

deleteMutation(accountIpRestrictions, 'deleteAccountIpRestriction', {
  adminsOnly: 'adminsOnly',
  description:
    'Deletes an IP restriction: the account may be used from anywhere again. Answers with its id. Only admins may.',
});

function checkType(text: string): IpRestrictionType {
  if (!Object.hasOwn(TYPES, text)) throw new ApiError('badRestrictionType', { member: 'type' });
  return TYPES[text as keyof typeof TYPES];
}

/** The rows that refer to IP policies. @throws {ApiError} */
async function chosenPolicies({ accountId }: Context, db: Db, ids: string[]) {
  await checkPolicyIds(ids, { accountId, db, member: 'ipPolicyIds', errors: ERRORS });
  return ids.map((policyId, position) => ({ policyId, position }));
}

const selection = 'id uri createdAt description metadata enforced type ipPolicies { id uri }';

export const routes = [
  route('POST', '/ip_restrictions', 201, 'createAccountIpRestriction', selection),
  ...readRoutes(accountIpRestrictions, 'ip_restrictions', selection),
  route('PATCH', '/ip_restrictions/:id', 200, 'updateAccountIpRestriction', selection),
  route('DELETE', '/ip_restrictions/:id', 204, 'deleteAccountIpRestriction'),
];
