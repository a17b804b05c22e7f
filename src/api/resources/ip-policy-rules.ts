// The rules of IP policies: a network each, and whether its addresses may visit.

import { readCidr } from '../../net/networks.ts';
import type { Db } from '../../store/database/client.ts';
import { newId } from '../../store/ids.ts';
import { builder, Ref } from '../builder/builder.ts';
import { rfc3339 } from '../builder/timestamps.ts';
import { collection, deleteMutation, Node, readRoutes } from '../collections/collection.ts';
import { choice, id, NOTED_MEMBERS, text } from '../collections/members.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { NOTE_COLUMNS } from '../resource.ts';
import { route } from '../route.ts';
import { checkTexts } from '../text-limits.ts';
import { keepingOwnAddress } from './own-address.ts';

const RULES_MAX = 1000;
const actions = { allow: 'ALLOW', deny: 'DENY' } as const;

const IpPolicyRule = builder.prismaObject('IpPolicyRule', {
  description: 'A network, and whether an IP policy lets its addresses in.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ipr_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/ip_policy_rules/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    cidr: t.exposeString('cidr', { description: 'The network, in its shortest form, as `10.0.0.0/8`.' }),
    ipPolicy: t.field({
      type: Ref,
      description: 'The IP policy that it belongs to.',
      select: { policyId: true },
      resolve: ({ policyId: id }) => ({ id, path: `/ip_policies/${id}` }),
    }),
    action: t.string({
      description: '`allow` or `deny`: who is in a denied network is turned away, whatever else allows it.',
      select: { action: true },
      resolve: ({ action }) => action.toLowerCase(),
    }),
  }),
});

export const ipPolicyRules = collection({
  kind: 'ipPolicyRule',
  prefix: 'ipr',
  path: '/ip_policy_rules',
  single: 'ipPolicyRule',
  plural: 'ipPolicyRules',
  typeName: 'IpPolicyRule',
  ref: IpPolicyRule,
  members: {
    ...NOTED_MEMBERS,
    cidr: text('cidr', { isOrdered: true }),
    'ip_policy.id': id('policyId'),
    action: choice('action', { allow: 'ALLOW', deny: 'DENY' }),
  },
  table: (db) => db.ipPolicyRule,
  audit: { name: 'ip_policy_rule', subject: 'A rule of an IP policy' },
  conflicts: { taken: 'cidrTaken' },
  search: {
    ...{ rank: 160, table: 'ip_policy_rule', title: 't.cidr', detail: 't.description' },
    texts: ['t.cidr', ...NOTE_COLUMNS],
  },
});

const cidrHelp =
  'A network of IPv4 or IPv6 addresses, as `10.0.0.0/8` or `2001:db8::/32`: its lowest address and the length of its ' +
  'prefix. One address alone is `192.0.2.7/32`.';

const CreateIpPolicyRuleInput = builder.inputType('CreateIpPolicyRuleInput', {
  description: 'A new IP policy rule.',
  fields: (t) => ({
    ipPolicyId: t.id({ required: true, description: 'The id of an IP policy of your account.' }),
    cidr: t.string({ required: true, description: `${cidrHelp} No other rule of the policy may have it.` }),
    action: t.string({ required: true, description: 'Whether its addresses may visit: `allow` or `deny`.' }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const UpdateIpPolicyRuleInput = builder.inputType('UpdateIpPolicyRuleInput', {
  description: 'What to change; a member left out or null stays as it is. The policy and the action stay for good.',
  fields: (t) => ({
    cidr: t.string({ description: cidrHelp }),
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
  }),
});

builder.mutationField('createIpPolicyRule', (t) =>
  t.prismaField({
    type: IpPolicyRule,
    nullable: true,
    access: { kind: 'ipPolicyRule' },
    description: `Adds a rule to an IP policy, which may have ${RULES_MAX}. Visitors meet it at once.`,
    args: {
      input: t.arg({ type: CreateIpPolicyRuleInput, required: true, description: 'The IP policy rule.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId } = context;
      const { ipPolicyId: policyId } = input;
      const data = {
        ...checkTexts(input),
        id: newId(ipPolicyRules.prefix),
        accountId,
        policyId,
        cidr: checkCidr(input.cidr),
        action: checkAction(input.action),
      };
      return context.create(ipPolicyRules, async (db) => {
        await checkRoom(db, { id: policyId, accountId });
        return keepingOwnAddress(context, db, () => db.ipPolicyRule.create({ ...query, data }));
      });
    },
  }),
);

builder.mutationField('updateIpPolicyRule', (t) =>
  t.prismaField({
    type: IpPolicyRule,
    nullable: true,
    access: { kind: 'ipPolicyRule' },
    description: 'Changes a rule. Visitors meet it at once.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the IP policy rule.' }),
      input: t.arg({ type: UpdateIpPolicyRuleInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const data = { ...checkTexts(input), cidr: input.cidr == null ? undefined : checkCidr(input.cidr) };
      return context.update(ipPolicyRules, id, (db) =>
        keepingOwnAddress(context, db, () => db.ipPolicyRule.update({ ...query, where, data })),
      );
    },
  }),
);

deleteMutation(ipPolicyRules, 'deleteIpPolicyRule', {
  within: keepingOwnAddress,
  description: 'Deletes a rule of an IP policy. Visitors meet it at once. Answers with its id.',
});

/**
 * Lets one write at a time add to a policy.
 * @throws {ApiError} when the account has no such policy, or it has as many rules as it may have.
 */
async function checkRoom(db: Db, { id, accountId }: { id: string; accountId: string }): Promise<void> {
  const member = 'ipPolicyId';
  if (id === '') throw new ApiError('ruleMemberMissing', { member });
  const rows = await db.$queryRaw<unknown[]>`
    SELECT id FROM ip_policy WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
  if (rows.length === 0) throw new ApiError('unknownIpPolicyOfRule', { member });
  if ((await db.ipPolicyRule.count({ where: { policyId: id } })) >= RULES_MAX)
    throw new ApiError('tooManyIpPolicyRules', { max: RULES_MAX });
}

/** @returns the network in its shortest form. @throws {ApiError} saying what would be right. */
function checkCidr(text: string): string {
  const member = 'cidr';
  if (text === '') throw new ApiError('ruleMemberMissing', { member });
  const network = readCidr(text);
  if (!network) throw new ApiError('badCidr', { member });
  const right = network.canonical;
  const [address = '', prefix] = text.split('/');
  if (prefix === undefined) throw new ApiError('cidrMask', { member, right });
  // An address can be written in several ways: both are compared in the shortest.
  if (readCidr(address)?.base !== network.base) throw new ApiError('cidrNotLowest', { member, right });
  return right;
}

function checkAction(text: string): (typeof actions)[keyof typeof actions] {
  if (text !== 'allow' && text !== 'deny') throw new ApiError('badRuleAction', { member: 'action' });
  return actions[text];
}

/** The rules of a policy of the caller's account, as REST shows them: a policy may have too many to look at one by one. */
export async function ipPolicyRulesOf(context: Context, policyId: string): Promise<object[]> {
  const where = { policyId, accountId: context.accountId };
  const rules = await context.db.ipPolicyRule.findMany({ where, orderBy: { id: 'asc' } });
  return rules.map(({ id, createdAt, description, metadata, cidr, action }) => ({
    id,
    uri: context.uri(`/ip_policy_rules/${id}`),
    created_at: rfc3339(createdAt),
    description,
    metadata,
    cidr,
    ip_policy: { id: policyId, uri: context.uri(`/ip_policies/${policyId}`) },
    action: action.toLowerCase(),
  }));
}

const selection = 'id uri createdAt description metadata cidr ipPolicy { id uri } action';

export const routes = [
  route('POST', '/ip_policy_rules', 201, 'createIpPolicyRule', selection),
  ...readRoutes(ipPolicyRules, 'ip_policy_rules', selection),
  route('PATCH', '/ip_policy_rules/:id', 200, 'updateIpPolicyRule', selection),
  route('DELETE', '/ip_policy_rules/:id', 204, 'deleteIpPolicyRule'),
];
