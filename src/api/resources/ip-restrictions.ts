// IP restrictions: from which addresses an account may be used, in each of four ways.

import type { Db } from '../../store/database/client.ts';
import { builder } from '../builder/builder.ts';
import { Node } from '../collections/collection.ts';
import { boolean, choice, NOTED_MEMBERS } from '../collections/members.ts';
import { rowFields } from '../collections/notes.ts';
import { references, typeOfKind } from '../collections/references.ts';
import { joined, related } from '../collections/related.ts';
import { resource } from '../collections/resource.ts';
import type { Context } from '../context.ts';
import { checkPolicyIds, IP_POLICIES_MAX } from '../modules/chosen-ip-policies.ts';
import { searchByNotes } from '../resource.ts';
import { inLowerCase } from '../rest-words.ts';
import { IpPolicy } from './ip-policies.ts';
import { keepingOwnAddress } from './own-address.ts';

const TYPES = { dashboard: 'DASHBOARD', api: 'API', agent: 'AGENT', endpoints: 'ENDPOINTS' } as const;
const ERRORS = {
  none: 'restrictionPoliciesMissing',
  tooMany: 'tooManyRestrictionPolicies',
  unknown: 'unknownRestrictionPolicy',
} as const;

const IpRestrictionType = builder.enumType('IpRestrictionType', {
  description: 'A way to use an account.',
  extensions: inLowerCase({ isText: true, refusal: 'badRestrictionType' }),
  values: {
    DASHBOARD: { description: 'Browser sessions, and signing in.' },
    API: { description: 'REST and GraphQL with API keys.' },
    AGENT: { description: 'Agents that connect.' },
    ENDPOINTS: { description: 'The visitors of all endpoints: of tunnels, of edges and of the cloud.' },
  } as const,
});

const typeHelp =
  '`DASHBOARD`: browser sessions, and signing in. `API`: REST and GraphQL with API keys. `AGENT`: agents that connect. ' +
  '`ENDPOINTS`: the visitors of all endpoints: of tunnels, of edges and of the cloud.';
const enforcedHelp =
  'Whether other addresses are refused. With `false`, they are let in, and the log of the gateway says that they would not be.';

const ROW = { prefix: 'ipx', path: '/ip_restrictions' };

const AccountIpRestriction = builder.prismaObject('AccountIpRestriction', {
  description:
    'From which addresses your account may be used in one way: from those that one of its IP policies allows, and none denies.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, ROW),
    type: t.expose('type', { type: IpRestrictionType, description: `What it is about. ${typeHelp}` }),
    enforced: t.exposeBoolean('enforced', { description: enforcedHelp }),
    ipPolicies: t.field({
      type: [typeOfKind('ipPolicy')],
      description: 'The IP policies, in the order in which they were given.',
      select: { policies: { select: { policyId: true }, orderBy: { position: 'asc' } } },
      resolve: references(({ policies }) => policies.map(({ policyId }) => policyId)),
    }),
  }),
});

builder.prismaObjectField(IpPolicy, 'accountIpRestrictions', (t) =>
  related(t, {
    ...{ kind: 'accountIpRestriction', on: joined('account_ip_restriction_policy', 'policy_id', 'restriction_id') },
    description: 'The restrictions of the account that name it.',
  }),
);

const policyIdsHelp = `The ids of 1 to ${IP_POLICIES_MAX} IP policies of your account.`;
const lockOutHelp =
  'It is refused when a restriction of `api` or `dashboard` would refuse the address that you ask from. Only admins may.';

export const { routes } = resource({
  kind: 'accountIpRestriction',
  model: 'AccountIpRestriction',
  ...ROW,
  ref: AccountIpRestriction,
  listKey: 'ip_restrictions',
  adminsOnly: 'adminsOnly',
  shows: 'id uri createdAt description metadata enforced type ipPolicies { id uri }',
  members: { ...NOTED_MEMBERS, type: choice('type', IpRestrictionType, TYPES), enforced: boolean('enforced') },
  audit: { name: 'ip_restriction', subject: 'An IP restriction' },
  conflicts: { taken: 'restrictionTypeTaken' },
  search: searchByNotes(163, 'account_ip_restriction'),
  create: {
    description: `Creates an IP restriction, which acts at once. ${lockOutHelp}`,
    input: (t) => ({
      type: t.field({
        type: IpRestrictionType,
        required: true,
        description: `What it is about; an account has one of each type. ${typeHelp}`,
      }),
      enforced: t.boolean({ description: `${enforcedHelp} Default false.` }),
      ipPolicyIds: t.idList({ required: true, description: policyIdsHelp }),
    }),
    write: (input, context) => async (save, db) => {
      const create = await chosenPolicies(context, db, input.ipPolicyIds);
      const columns = { type: input.type, enforced: input.enforced ?? false, policies: { create } };
      return keepingOwnAddress(context, db, () => save(columns));
    },
  },
  update: {
    description: `Changes an IP restriction; the change acts at once. ${lockOutHelp}`,
    note: 'The type stays for good.',
    input: (t) => ({
      enforced: t.boolean({ description: enforcedHelp }),
      ipPolicyIds: t.idList({
        description: `${policyIdsHelp} They replace those that it has; an empty list changes nothing.`,
      }),
    }),
    write:
      ({ enforced, ipPolicyIds }, context) =>
      async (save, db) => {
        const isChosen = ipPolicyIds != null && ipPolicyIds.length > 0;
        const policies = isChosen
          ? { deleteMany: {}, create: await chosenPolicies(context, db, ipPolicyIds) }
          : undefined;
        return keepingOwnAddress(context, db, () => save({ enforced: enforced ?? undefined, policies }));
      },
  },
  remove: {
    description:
      'Deletes an IP restriction: the account may be used from anywhere again. Answers with its id. Only admins may.',
  },
});

/** The rows that refer to IP policies. @throws {ApiError} */
async function chosenPolicies({ accountId }: Context, db: Db, ids: string[]) {
  await checkPolicyIds(ids, { accountId, db, member: 'ipPolicyIds', errors: ERRORS });
  return ids.map((policyId, position) => ({ policyId, position }));
}
