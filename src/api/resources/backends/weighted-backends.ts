// Weighted backends: each visit goes to one of other backends, chosen at random by their weights.

import type { Db } from '../../../store/database/client.ts';
import { lockBackends } from '../../../store/edges/backend-graph.ts';
import { newId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { NOTED_MEMBERS, relatedTexts } from '../../collections/members.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { searchByNotes } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import {
  BACKENDS_MAX,
  backendMembersSelect,
  checkBackendGraph,
  checkMembers,
  NESTED_BACKENDS_MAX,
  NO_LABELS,
} from './backend-members.ts';

const WEIGHT_MAX = 10_000;
const OF_KIND = { kind: 'WEIGHTED' } as const;

const WeightedBackend = builder.prismaObject('Backend', {
  variant: 'WeightedBackend',
  description:
    'Other backends, each with a weight. Each request of an HTTPS edge, and each connection of another edge, goes to one of ' +
    'those that are online, with the probability of its weight among them.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `bkdwd_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/backends/weighted/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    backends: t.field({
      type: 'Weights',
      description: 'The weights of the backends by their ids, in the order in which they were given.',
      select: backendMembersSelect,
      resolve: ({ members }) => Object.fromEntries(members.map(({ memberId, weight }) => [memberId, weight ?? 0])),
    }),
  }),
});

const weightedBackends = collection({
  kind: 'weightedBackend',
  prefix: 'bkdwd',
  path: '/backends/weighted',
  single: 'weightedBackend',
  plural: 'weightedBackends',
  typeName: 'WeightedBackend',
  ref: WeightedBackend,
  members: { ...NOTED_MEMBERS, backends: relatedTexts('members', 'memberId') },
  table: (db) => db.backend,
  where: () => OF_KIND,
  audit: { name: 'weighted_backend', subject: 'A weighted backend' },
  conflicts: { inUse: 'backendInUse' },
  search: { ...searchByNotes(141, 'backend'), where: `t.kind = 'WEIGHTED'` },
});

const backendsHelp =
  'Weights by the ids of backends of your account, as `{ "bkdtg_…": 90, "bkdtg_…": 10 }`: 1 to ' +
  `${BACKENDS_MAX} backends, weights from 0, which is never chosen, to ${WEIGHT_MAX}. They may be of any kind, also ` +
  `weighted and failover backends, but must not lead back to this one, and over all of them to at most ${NESTED_BACKENDS_MAX}.`;

const CreateWeightedBackendInput = builder.inputType('CreateWeightedBackendInput', {
  description: 'A new weighted backend.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    backends: t.field({ type: 'Weights', required: true, description: backendsHelp }),
  }),
});

const UpdateWeightedBackendInput = builder.inputType('UpdateWeightedBackendInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    backends: t.field({
      type: 'Weights',
      description: `${backendsHelp} Replaces all of them; none, as \`{}\`, keeps them.`,
    }),
  }),
});

builder.mutationField('createWeightedBackend', (t) =>
  t.prismaField({
    type: WeightedBackend,
    nullable: true,
    access: { kind: 'weightedBackend' },
    description: 'Creates a weighted backend. Edges and routes can send their traffic to it.',
    args: {
      input: t.arg({ type: CreateWeightedBackendInput, required: true, description: 'The weighted backend.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId } = context;
      const texts = checkTexts(input);
      return context.create(weightedBackends, async (db) => {
        const create = await checkWeights(db, accountId, input.backends);
        const data = { ...texts, ...OF_KIND, id: newId('bkdwd'), accountId, labels: NO_LABELS, members: { create } };
        const row = await db.backend.create({ ...query, data });
        await checkBackendGraph(db, data.id);
        return row;
      });
    },
  }),
);

builder.mutationField('updateWeightedBackend', (t) =>
  t.prismaField({
    type: WeightedBackend,
    nullable: true,
    access: { kind: 'weightedBackend' },
    description: 'Changes a weighted backend. Traffic follows its new weights at once.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the weighted backend.' }),
      input: t.arg({ type: UpdateWeightedBackendInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId, ...OF_KIND };
      const texts = checkTexts(input);
      const given = input.backends && Object.keys(input.backends).length > 0 ? input.backends : undefined;
      return context.update(weightedBackends, id, async (db) => {
        const create = given && (await checkWeights(db, context.accountId, given));
        const data = { ...texts, members: create && { deleteMany: {}, create } };
        const row = await db.backend.update({ ...query, where, data });
        if (create) await checkBackendGraph(db, id);
        return row;
      });
    },
  }),
);

deleteMutation(weightedBackends, 'deleteWeightedBackend', {
  description:
    'Deletes a weighted backend, not those that it sends traffic to. Answers with its id; fails with `CONFLICT` while an edge, ' +
    'a route or another backend sends traffic to it.',
});

/** @throws {ApiError} when a weight is out of range, or as `checkMembers`. */
async function checkWeights(db: Db, accountId: string, weights: Readonly<Record<string, number>>) {
  const member = 'backends';
  for (const [id, weight] of Object.entries(weights))
    if (weight < 0 || weight > WEIGHT_MAX)
      throw new ApiError('weightRange', { member, name: id.slice(0, 64), max: WEIGHT_MAX });
  await lockBackends(db, accountId);
  await checkMembers(db, accountId, Object.keys(weights), { tooMany: 'tooManyWeightedBackends', at: () => member });
  return Object.entries(weights).map(([memberId, weight], position) => ({ memberId, weight, position }));
}

const selection = 'id uri createdAt description metadata backends';

export const routes = [
  route('POST', '/backends/weighted', 201, 'createWeightedBackend', selection),
  ...readRoutes(weightedBackends, 'backends', selection),
  route('PATCH', '/backends/weighted/:id', 200, 'updateWeightedBackend', selection),
  route('DELETE', '/backends/weighted/:id', 204, 'deleteWeightedBackend'),
];
