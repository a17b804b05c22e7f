// The rules of IP policies: a network each, and whether its addresses may visit.

import { readCidr } from '../../net/networks.ts';
import type { Db } from '../../store/database/client.ts';
import { asWritten, writtenBeside } from '../as-written.ts';
import { builder } from '../builder/builder.ts';
import { rfc3339 } from '../builder/timestamps.ts';
import { Node } from '../collections/collection.ts';
import { choice, id, NOTED_MEMBERS, text } from '../collections/members.ts';
import { rowFields } from '../collections/notes.ts';
import { requiredReference, typeOfKind } from '../collections/references.ts';
import { resource } from '../collections/resource.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { NOTE_COLUMNS } from '../resource.ts';
import { inLowerCase } from '../rest-words.ts';
import { keepingOwnAddress } from './own-address.ts';

const RULES_MAX = 1000;
const ACTIONS = { allow: 'ALLOW', deny: 'DENY' } as const;

const ROW = { prefix: 'ipr', path: '/ip_policy_rules' };

const IpPolicyAction = builder.enumType('IpPolicyAction', {
  description: 'Whether addresses may visit.',
  extensions: inLowerCase({ isText: true, refusal: 'badRuleAction' }),
  values: {
    ALLOW: { description: 'They may, unless another rule denies them.' },
    DENY: { description: 'They may not, whatever else allows them.' },
  } as const,
});

const IpPolicyRule = builder.prismaObject('IpPolicyRule', {
  description: 'A network, and whether an IP policy lets its addresses in.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, ROW),
    cidr: t.string({
      description: 'The network, as it was written. Networks are compared in their shortest form, as `10.0.0.0/8`.',
      select: { cidr: true, writtenCidr: true },
      resolve: shownCidr,
    }),
    ipPolicy: t.field({
      type: typeOfKind('ipPolicy'),
      description: 'The IP policy that it belongs to.',
      select: { policyId: true },
      resolve: requiredReference(({ policyId }) => policyId),
    }),
    action: t.expose('action', {
      type: IpPolicyAction,
      description: '`ALLOW` or `DENY`: who is in a denied network is turned away, whatever else allows it.',
    }),
  }),
});

const cidrHelp =
  'A network of IPv4 or IPv6 addresses, as `10.0.0.0/8` or `2001:db8::/32`: its lowest address and the length of its ' +
  'prefix. One address alone is `192.0.2.7/32`.';

export const ipPolicyRules = resource({
  kind: 'ipPolicyRule',
  model: 'IpPolicyRule',
  ...ROW,
  ref: IpPolicyRule,
  shows: 'id uri createdAt description metadata cidr ipPolicy { id uri } action',
  members: {
    ...NOTED_MEMBERS,
    cidr: text('cidr', { isOrdered: true }),
    'ip_policy.id': id('policyId'),
    action: choice('action', IpPolicyAction, ACTIONS),
  },
  audit: { name: 'ip_policy_rule', subject: 'A rule of an IP policy' },
  conflicts: { taken: 'cidrTaken' },
  search: {
    ...{ rank: 160, table: 'ip_policy_rule', title: 't.cidr', detail: 't.description' },
    texts: ['t.cidr', ...NOTE_COLUMNS],
  },
  create: {
    description: `Adds a rule to an IP policy, which may have ${RULES_MAX}. Visitors meet it at once.`,
    input: (t) => ({
      ipPolicyId: t.id({ required: true, description: 'The id of an IP policy of your account.' }),
      cidr: t.string({ required: true, description: `${cidrHelp} No other rule of the policy may have it.` }),
      action: t.field({
        type: IpPolicyAction,
        required: true,
        description: 'Whether its addresses may visit: `ALLOW` or `DENY`.',
      }),
    }),
    write:
      ({ ipPolicyId: policyId, cidr, action }, context) =>
      async (save, db) => {
        const { network } = await checkAll({
          network: () => checkCidr(cidr),
          room: () => checkRoom(db, { id: policyId, accountId: context.accountId }),
        });
        return keepingOwnAddress(context, db, () => save({ policyId, action, ...network }));
      },
  },
  update: {
    description: 'Changes a rule. Visitors meet it at once.',
    note: 'The policy and the action stay for good.',
    input: (t) => ({ cidr: t.string({ description: cidrHelp }) }),
    write(input, context) {
      const network = input.cidr == null ? {} : checkCidr(input.cidr);
      return (save, db) => keepingOwnAddress(context, db, () => save(network));
    },
  },
  remove: {
    parent: { kind: 'ipPolicy', column: 'policyId' },
    within: keepingOwnAddress,
    description: 'Deletes a rule of an IP policy. Visitors meet it at once. Answers with its id.',
  },
});

export const { routes } = ipPolicyRules;

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

function shownCidr({ cidr, writtenCidr }: { cidr: string; writtenCidr: string | null }): string {
  return asWritten(cidr, writtenCidr, (text) => readCidr(text)?.canonical);
}

/** @returns the network in its shortest form, and as it is written. @throws {ApiError} saying what would be right. */
function checkCidr(text: string): { cidr: string; writtenCidr: string | null } {
  const member = 'cidr';
  if (text === '') throw new ApiError('ruleMemberMissing', { member });
  const network = readCidr(text);
  if (!network) throw new ApiError('badCidr', { member });
  const right = network.canonical;
  const [address = '', prefix] = text.split('/');
  if (prefix === undefined) throw new ApiError('cidrMask', { member, right });
  // An address can be written in several ways: both are compared in the shortest.
  if (readCidr(address)?.base !== network.base) throw new ApiError('cidrNotLowest', { member, right });
  return { cidr: right, writtenCidr: writtenBeside(right, text) };
}

/** The rules of a policy of the caller's account, as REST shows them: a policy may have too many to look at one by one. */
export async function ipPolicyRulesOf(context: Context, policyId: string): Promise<object[]> {
  const where = { policyId, accountId: context.accountId };
  const rules = await context.db.ipPolicyRule.findMany({ where, orderBy: { id: 'asc' } });
  return rules.map(({ id, createdAt, description, metadata, action, ...network }) => ({
    id,
    uri: context.uri(`/ip_policy_rules/${id}`),
    created_at: rfc3339(createdAt),
    description,
    metadata,
    cidr: shownCidr(network),
    ip_policy: { id: policyId, uri: context.uri(`/ip_policies/${policyId}`) },
    action: action.toLowerCase(),
  }));
}
