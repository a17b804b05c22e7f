// IP policies: lists of networks whose addresses may visit, or may not. IP restriction modules name them.

import { newId } from '../../store/ids.ts';
import { builder } from '../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../collections/collection.ts';
import { NOTED_MEMBERS } from '../collections/members.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { searchByNotes } from '../resource.ts';
import { route } from '../route.ts';
import { checkTexts } from '../text-limits.ts';
import { ipPolicyRules, ipPolicyRulesOf } from './ip-policy-rules.ts';

const IpPolicy = builder.prismaObject('IpPolicy', {
  description:
    'Which addresses may visit: those that one of its rules allows and none denies. IP restriction modules name it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ipp_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/ip_policies/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const ipPolicies = collection({
  kind: 'ipPolicy',
  prefix: 'ipp',
  path: '/ip_policies',
  single: 'ipPolicy',
  plural: 'ipPolicies',
  typeName: 'IpPolicy',
  ref: IpPolicy,
  members: NOTED_MEMBERS,
  table: (db) => db.ipPolicy,
  audit: { name: 'ip_policy', subject: 'An IP policy' },
  conflicts: { inUse: 'ipPolicyInUse' },
  search: searchByNotes(150, 'ip_policy'),
});

const CreateIpPolicyInput = builder.inputType('CreateIpPolicyInput', {
  description: 'A new IP policy. Every member may be left out.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const UpdateIpPolicyInput = builder.inputType('UpdateIpPolicyInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
  }),
});

builder.mutationField('createIpPolicy', (t) =>
  t.prismaField({
    type: IpPolicy,
    nullable: true,
    access: { kind: 'ipPolicy' },
    description: 'Creates an IP policy. Without rules it lets nobody in.',
    args: {
      input: t.arg({ type: CreateIpPolicyInput, required: true, description: 'The IP policy.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const data = { ...checkTexts(input), id: newId(ipPolicies.prefix), accountId: context.accountId };
      return context.create(ipPolicies, (db) => db.ipPolicy.create({ ...query, data }));
    },
  }),
);

builder.mutationField('updateIpPolicy', (t) =>
  t.prismaField({
    type: IpPolicy,
    nullable: true,
    access: { kind: 'ipPolicy' },
    description: 'Changes what is noted of an IP policy.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the IP policy.' }),
      input: t.arg({ type: UpdateIpPolicyInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const data = checkTexts(input);
      return context.update(ipPolicies, id, (db) => db.ipPolicy.update({ ...query, where, data }));
    },
  }),
);

deleteMutation(ipPolicies, 'deleteIpPolicy', {
  description:
    'Deletes an IP policy with its rules. Answers with its id; fails with `CONFLICT` while an IP restriction module ' +
    'names it.',
  cascade: {
    resource: ipPolicyRules,
    objects: (context, policy) => ipPolicyRulesOf(context, (policy as { id: string }).id),
  },
});

const selection = 'id uri createdAt description metadata';

export const routes = [
  route('POST', '/ip_policies', 201, 'createIpPolicy', selection),
  ...readRoutes(ipPolicies, 'ip_policies', selection),
  route('PATCH', '/ip_policies/:id', 200, 'updateIpPolicy', selection),
  route('DELETE', '/ip_policies/:id', 204, 'deleteIpPolicy'),
];
