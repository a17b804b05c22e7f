// Tunnel group backends: the labelled tunnels that traffic goes to, chosen by their labels.

import type { BackendModel } from '../../../store/generated/prisma/models.ts';
import { newId } from '../../../store/ids.ts';
import { type Labels, matchesLabels } from '../../../tunnel/endpoints/endpoint.ts';
import { builder, Ref } from '../../builder/builder.ts';
import { changeOperation, mergeLabels } from '../../collections/bulk-change.ts';
import { bulkOperation } from '../../collections/bulk-operations.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { labels, NOTED_MEMBERS } from '../../collections/members.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkLabelLimits, checkTexts } from '../../text-limits.ts';
import { liveLabelledTunnels } from '../tunnels/live-tunnels.ts';

const LABELS_MAX = 16;
const LABEL_MAX_BYTES = 255;

const OF_KIND = { kind: 'TUNNEL_GROUP' } as const;

const TunnelGroupBackend = builder.prismaObject('Backend', {
  variant: 'TunnelGroupBackend',
  description: 'Every live tunnel of your account that has certain labels. Traffic is shared out evenly among them.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `bkdtg_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/backends/tunnel_group/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    labels: t.field({
      type: 'Labels',
      description: 'The labels that a tunnel must have, all of them, to belong to the group.',
      select: { labels: true },
      resolve: ({ labels }) => labels as Labels,
    }),
    tunnels: t.field({
      type: [Ref],
      description: 'The tunnels that belong to it and are live now, the newest first.',
      select: { labels: true },
      resolve: async ({ labels }, _, context) =>
        (await liveLabelledTunnels(context))
          .filter((tunnel) => matchesLabels(labels as Labels, tunnel.labels))
          .map(({ id }) => ({ id, path: `/tunnels/${id}` })),
    }),
  }),
});

/** The labels as the search shows them: `key=value`, in SQL. */
const LABELS = `(SELECT string_agg(key || '=' || value, ', ' ORDER BY key) FROM jsonb_each_text(t.labels))`;

const tunnelGroupBackends = collection({
  kind: 'tunnelGroupBackend',
  prefix: 'bkdtg',
  path: '/backends/tunnel_group',
  single: 'tunnelGroupBackend',
  plural: 'tunnelGroupBackends',
  typeName: 'TunnelGroupBackend',
  ref: TunnelGroupBackend,
  members: { ...NOTED_MEMBERS, labels: labels('labels') },
  table: (db) => db.backend,
  where: () => OF_KIND,
  audit: { name: 'tunnel_group_backend', subject: 'A tunnel group backend' },
  conflicts: { inUse: 'backendInUse' },
  search: {
    ...{ rank: 140, table: 'backend', title: LABELS, detail: 't.description' },
    ...{ texts: [LABELS, ...NOTE_COLUMNS], where: `t.kind = 'TUNNEL_GROUP'` },
  },
});

const labelsHelp =
  'The labels that a tunnel must have, as `{ "app": "shop" }`: 1 to 16 of them, keys and values of 1 to 255 bytes, ' +
  'keys without `=`.';

const CreateTunnelGroupBackendInput = builder.inputType('CreateTunnelGroupBackendInput', {
  description: 'A new tunnel group backend.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    labels: t.field({ type: 'Labels', required: true, description: labelsHelp }),
  }),
});

const UpdateTunnelGroupBackendInput = builder.inputType('UpdateTunnelGroupBackendInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    labels: t.field({
      type: 'Labels',
      description: `${labelsHelp} Replaces all of them; none, as \`{}\`, keeps them.`,
    }),
  }),
});

builder.mutationField('createTunnelGroupBackend', (t) =>
  t.prismaField({
    type: TunnelGroupBackend,
    nullable: true,
    access: { kind: 'tunnelGroupBackend' },
    description:
      'Creates a tunnel group. Edges and routes can send their traffic to it; tunnels need not be there yet.',
    args: {
      input: t.arg({ type: CreateTunnelGroupBackendInput, required: true, description: 'The tunnel group backend.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => createBackend(query, input, context),
  }),
);

/** @param query what is to be read of it. @throws {ApiError} when its labels or texts are not as they should be. */
export function createBackend(
  query: object,
  input: typeof CreateTunnelGroupBackendInput.$inferInput,
  context: Context,
): Promise<BackendModel> {
  const { accountId } = context;
  const data = {
    ...checkTexts(input),
    id: newId(tunnelGroupBackends.prefix),
    accountId,
    labels: checkSelector(input.labels),
  };
  return context.create(tunnelGroupBackends, (db) => db.backend.create({ ...query, data }));
}

builder.mutationField('updateTunnelGroupBackend', (t) =>
  t.prismaField({
    type: TunnelGroupBackend,
    nullable: true,
    access: { kind: 'tunnelGroupBackend' },
    description: 'Changes a tunnel group. Traffic follows its new labels at once.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the tunnel group backend.' }),
      input: t.arg({ type: UpdateTunnelGroupBackendInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId, ...OF_KIND };
      // {} is what clients send who were not given any.
      const isGiven = input.labels != null && Object.keys(input.labels).length > 0;
      const data = { ...checkTexts(input), labels: isGiven ? checkSelector(input.labels as Labels) : undefined };
      return context.update(tunnelGroupBackends, id, (db) => db.backend.update({ ...query, where, data }));
    },
  }),
);

const selectorLabels = changeOperation<Labels>({
  ...{ kind: tunnelGroupBackends.kind, table: 'backend', target: mergeLabels },
  async read({ db, accountId }, id) {
    const row = await db.backend.findUnique({ where: { id, accountId, ...OF_KIND }, select: { labels: true } });
    return (row?.labels ?? null) as Labels | null;
  },
  write: (context, id, given) => {
    const data = { labels: checkSelector(given) };
    const where = { id, accountId: context.accountId, ...OF_KIND };
    return context.update(tunnelGroupBackends, id, (db) => db.backend.update({ where, data, select: { id: true } }));
  },
});
bulkOperation(tunnelGroupBackends.kind, 'CHANGE_LABELS', selectorLabels);

deleteMutation(tunnelGroupBackends, 'deleteTunnelGroupBackend', {
  description:
    'Deletes a tunnel group. Answers with its id; fails with `CONFLICT` while an edge or a route sends traffic to it.',
});

/** @throws {ApiError} when there are none or too many, or a key or a value is not of the right length. */
function checkSelector(labels: Labels): Labels {
  if (Object.keys(labels).length === 0) throw new ApiError('labelsMissing', { member: 'labels' });
  return checkLabelLimits(labels, { count: LABELS_MAX, key: LABEL_MAX_BYTES, value: LABEL_MAX_BYTES });
}

const selection = 'id uri createdAt description metadata labels tunnels { id uri }';

export const routes = [
  route('POST', '/backends/tunnel_group', 201, 'createTunnelGroupBackend', selection),
  ...readRoutes(tunnelGroupBackends, 'backends', selection),
  route('PATCH', '/backends/tunnel_group/:id', 200, 'updateTunnelGroupBackend', selection),
  route('DELETE', '/backends/tunnel_group/:id', 204, 'deleteTunnelGroupBackend'),
];
