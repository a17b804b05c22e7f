// Failover backends: each visit goes to the first of other backends that is online.

import type { Db } from '../../../store/database/client.ts';
import { lockBackends } from '../../../store/edges/backend-graph.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { NOTED_MEMBERS, relatedTexts } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { resource } from '../../collections/resource.ts';
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

const OF_KIND = { kind: 'FAILOVER', address: null } as const; // With an address it is a static one.

const ROW = { prefix: 'bkdfo', path: '/backends/failover' };

const FailoverBackend = builder.prismaObject('Backend', {
  variant: 'FailoverBackend',
  description:
    'Other backends in an order. Each request of an HTTPS edge, and each connection of another edge, goes to the first that is ' +
    'online: a tunnel group with a live tunnel, an HTTP response, a static address, or a backend that leads to one that is online.',
  interfaces: [Node, Backend],
  fields: (t) => ({
    ...rowFields(t, ROW),
    backends: t.field({
      type: ['ID'],
      description: 'The ids of the backends, the one that is tried first at the beginning.',
      select: backendMembersSelect,
      resolve: ({ members }) => members.map(({ memberId }) => memberId),
    }),
  }),
});

const backendsHelp =
  `The ids of 1 to ${BACKENDS_MAX} backends of your account, the one to try first at the beginning. They may be of any kind, ` +
  'also weighted and failover backends, but must not lead back to this one, and over all of them to at most ' +
  `${NESTED_BACKENDS_MAX}.`;

export const { routes } = resource({
  kind: 'failoverBackend',
  model: 'Backend',
  ...ROW,
  ref: FailoverBackend,
  listKey: 'backends',
  shows: 'id uri createdAt description metadata backends',
  members: { ...NOTED_MEMBERS, backends: relatedTexts('members', 'memberId') },
  where: () => OF_KIND,
  audit: { name: 'failover_backend', subject: 'A failover backend' },
  conflicts: { inUse: 'backendInUse' },
  search: { ...searchByNotes(142, 'backend'), where: `t.kind = 'FAILOVER' AND t.address IS NULL` },
  create: {
    description: 'Creates a failover backend. Edges and routes can send their traffic to it.',
    input: (t) => ({ backends: t.idList({ required: true, description: backendsHelp }) }),
    write:
      ({ backends }, { accountId }, id) =>
      async (save, db) => {
        const create = await checkOrder(db, accountId, backends);
        const row = await save({ ...OF_KIND, labels: NO_LABELS, members: { create } });
        await checkBackendGraph(db, id);
        return row;
      },
  },
  update: {
    description: 'Changes a failover backend. Traffic follows its new order at once.',
    input: (t) => ({
      backends: t.idList({ description: `${backendsHelp} Replaces all of them; none, as \`[]\`, keeps them.` }),
    }),
    write({ backends }, { accountId }, id) {
      const given = backends && backends.length > 0 ? backends : undefined;
      return async (save, db) => {
        const create = given && (await checkOrder(db, accountId, given));
        const row = await save({ members: create && { deleteMany: {}, create } });
        if (create) await checkBackendGraph(db, id);
        return row;
      };
    },
  },
  remove: {
    description:
      'Deletes a failover backend, not those that it sends traffic to. Answers with its id; fails with `CONFLICT` while an edge, ' +
      'a route or another backend sends traffic to it.',
  },
});

/** @throws {ApiError} as `checkMembers`. */
async function checkOrder(db: Db, accountId: string, ids: readonly string[]) {
  await lockBackends(db, accountId);
  await checkMembers(db, accountId, ids, {
    tooMany: 'tooManyFailoverBackends',
    at: (index) => `backends[${index}]`,
  });
  return ids.map((memberId, position) => ({ memberId, position }));
}
