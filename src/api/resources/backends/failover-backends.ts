// Failover backends: each visit goes to the first of other backends that is online.

import type { Db } from '../../../store/database/client.ts';
import { lockBackends } from '../../../store/edges/backend-graph.ts';
import { newId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { NOTED_MEMBERS, relatedTexts } from '../../collections/members.ts';
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

const OF_KIND = { kind: 'FAILOVER', address: null } as const; // With an address it is a static one.

const FailoverBackend = builder.prismaObject('Backend', {
  variant: 'FailoverBackend',
  description:
    'Other backends in an order. Each request of an HTTPS edge, and each connection of another edge, goes to the first that is ' +
    'online: a tunnel group with a live tunnel, an HTTP response, a static address, or a backend that leads to one that is online.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `bkdfo_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/backends/failover/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    backends: t.field({
      type: ['ID'],
      description: 'The ids of the backends, the one that is tried first at the beginning.',
      select: backendMembersSelect,
      resolve: ({ members }) => members.map(({ memberId }) => memberId),
    }),
  }),
});

const failoverBackends = collection({
  kind: 'failoverBackend',
  prefix: 'bkdfo',
  path: '/backends/failover',
  single: 'failoverBackend',
  plural: 'failoverBackends',
  typeName: 'FailoverBackend',
  ref: FailoverBackend,
  members: { ...NOTED_MEMBERS, backends: relatedTexts('members', 'memberId') },
  table: (db) => db.backend,
  where: () => OF_KIND,
  audit: { name: 'failover_backend', subject: 'A failover backend' },
  conflicts: { inUse: 'backendInUse' },
  search: { ...searchByNotes(142, 'backend'), where: `t.kind = 'FAILOVER' AND t.address IS NULL` },
});

const backendsHelp =
  `The ids of 1 to ${BACKENDS_MAX} backends of your account, the one to try first at the beginning. They may be of any kind, ` +
  'also weighted and failover backends, but must not lead back to this one, and over all of them to at most ' +
  `${NESTED_BACKENDS_MAX}.`;

const CreateFailoverBackendInput = builder.inputType('CreateFailoverBackendInput', {
  description: 'A new failover backend.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    backends: t.idList({ required: true, description: backendsHelp }),
  }),
});

const UpdateFailoverBackendInput = builder.inputType('UpdateFailoverBackendInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    backends: t.idList({ description: `${backendsHelp} Replaces all of them; none, as \`[]\`, keeps them.` }),
  }),
});

builder.mutationField('createFailoverBackend', (t) =>
  t.prismaField({
    type: FailoverBackend,
    nullable: true,
    access: { kind: 'failoverBackend' },
    description: 'Creates a failover backend. Edges and routes can send their traffic to it.',
    args: {
      input: t.arg({ type: CreateFailoverBackendInput, required: true, description: 'The failover backend.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId } = context;
      const texts = checkTexts(input);
      return context.create(failoverBackends, async (db) => {
        const create = await checkOrder(db, accountId, input.backends);
        const data = { ...texts, ...OF_KIND, id: newId('bkdfo'), accountId, labels: NO_LABELS, members: { create } };
        const row = await db.backend.create({ ...query, data });
        await checkBackendGraph(db, data.id);
        return row;
      });
    },
  }),
);

builder.mutationField('updateFailoverBackend', (t) =>
  t.prismaField({
    type: FailoverBackend,
    nullable: true,
    access: { kind: 'failoverBackend' },
    description: 'Changes a failover backend. Traffic follows its new order at once.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the failover backend.' }),
      input: t.arg({ type: UpdateFailoverBackendInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId, ...OF_KIND };
      const texts = checkTexts(input);
      const given = input.backends && input.backends.length > 0 ? input.backends : undefined;
      return context.update(failoverBackends, id, async (db) => {
        const create = given && (await checkOrder(db, context.accountId, given));
        const data = { ...texts, members: create && { deleteMany: {}, create } };
        const row = await db.backend.update({ ...query, where, data });
        if (create) await checkBackendGraph(db, id);
        return row;
      });
    },
  }),
);

deleteMutation(failoverBackends, 'deleteFailoverBackend', {
  description:
    'Deletes a failover backend, not those that it sends traffic to. Answers with its id; fails with `CONFLICT` while an edge, ' +
    'a route or another backend sends traffic to it.',
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

const selection = 'id uri createdAt description metadata backends';

export const routes = [
  route('POST', '/backends/failover', 201, 'createFailoverBackend', selection),
  ...readRoutes(failoverBackends, 'backends', selection),
  route('PATCH', '/backends/failover/:id', 200, 'updateFailoverBackend', selection),
  route('DELETE', '/backends/failover/:id', 204, 'deleteFailoverBackend'),
];
