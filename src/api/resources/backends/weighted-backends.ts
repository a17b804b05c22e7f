// Weighted backends: each visit goes to one of other backends, chosen at random by their weights.

import type { Db } from '../../../store/database/client.ts';
import { lockBackends } from '../../../store/edges/backend-graph.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { NOTED_MEMBERS, relatedTexts } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { resource } from '../../collections/resource.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { Backend } from '../../modules/interfaces.ts';
import { searchByNotes } from '../../resource.ts';
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

const ROW = { prefix: 'bkdwd', path: '/backends/weighted' };

const WeightedBackend = builder.prismaObject('Backend', {
  variant: 'WeightedBackend',
  description:
    'Other backends, each with a weight. Each request of an HTTPS edge, and each connection of another edge, goes to one of ' +
    'those that are online, with the probability of its weight among them.',
  interfaces: [Node, Backend],
  fields: (t) => ({
    ...rowFields(t, ROW),
    backends: t.field({
      type: 'Weights',
      description: 'The weights of the backends by their ids, in the order in which they were given.',
      select: backendMembersSelect,
      resolve: ({ members }) => Object.fromEntries(members.map(({ memberId, weight }) => [memberId, weight ?? 0])),
    }),
  }),
});

const backendsHelp =
  'Weights by the ids of backends of your account, as `{ "bkdtg_…": 90, "bkdtg_…": 10 }`: 1 to ' +
  `${BACKENDS_MAX} backends, weights from 0, which is never chosen, to ${WEIGHT_MAX}. They may be of any kind, also ` +
  `weighted and failover backends, but must not lead back to this one, and over all of them to at most ${NESTED_BACKENDS_MAX}.`;

export const { routes } = resource({
  kind: 'weightedBackend',
  model: 'Backend',
  ...ROW,
  ref: WeightedBackend,
  listKey: 'backends',
  shows: 'id uri createdAt description metadata backends',
  members: { ...NOTED_MEMBERS, backends: relatedTexts('members', 'memberId') },
  where: () => OF_KIND,
  audit: { name: 'weighted_backend', subject: 'A weighted backend' },
  conflicts: { inUse: 'backendInUse' },
  search: { ...searchByNotes(141, 'backend'), where: `t.kind = 'WEIGHTED'` },
  create: {
    description: 'Creates a weighted backend. Edges and routes can send their traffic to it.',
    input: (t) => ({ backends: t.field({ type: 'Weights', required: true, description: backendsHelp }) }),
    write:
      ({ backends }, { accountId }, id) =>
      async (save, db) => {
        const create = await checkWeights(db, accountId, backends);
        const row = await save({ ...OF_KIND, labels: NO_LABELS, members: { create } });
        await checkBackendGraph(db, id);
        return row;
      },
  },
  update: {
    description: 'Changes a weighted backend. Traffic follows its new weights at once.',
    input: (t) => ({
      backends: t.field({
        type: 'Weights',
        description: `${backendsHelp} Replaces all of them; none, as \`{}\`, keeps them.`,
      }),
    }),
    write({ backends }, { accountId }, id) {
      const given = backends && Object.keys(backends).length > 0 ? backends : undefined;
      return async (save, db) => {
        const create = given && (await checkWeights(db, accountId, given));
        const row = await save({ members: create && { deleteMany: {}, create } });
        if (create) await checkBackendGraph(db, id);
        return row;
      };
    },
  },
  remove: {
    description:
      'Deletes a weighted backend, not those that it sends traffic to. Answers with its id; fails with `CONFLICT` while an edge, ' +
      'a route or another backend sends traffic to it.',
  },
});

/** @throws {ApiError} when a weight is out of range, or as `checkMembers`. */
async function checkWeights(db: Db, accountId: string, weights: Readonly<Record<string, number>>) {
  const member = 'backends';
  const checkWeight = ([id, weight]: [string, number]) => {
    if (weight < 0 || weight > WEIGHT_MAX)
      throw new ApiError('weightRange', { member, name: id.slice(0, 64), max: WEIGHT_MAX });
  };
  await checkAll({
    weights: () => checkEach(Object.entries(weights), checkWeight),
    async backends() {
      await lockBackends(db, accountId);
      const errors = { tooMany: 'tooManyWeightedBackends', at: () => member } as const;
      await checkMembers(db, accountId, Object.keys(weights), errors);
    },
  });
  return Object.entries(weights).map(([memberId, weight], position) => ({ memberId, weight, position }));
}
