// Tunnel group backends: the labelled tunnels that traffic goes to, chosen by their labels.

import { type Labels, matchesLabels } from '../../../tunnel/endpoints/endpoint.ts';
import { builder } from '../../builder/builder.ts';
import { changeOperation, mergeLabels } from '../../collections/bulk-change.ts';
import { bulkOperation } from '../../collections/bulk-operations.ts';
import { Node } from '../../collections/collection.ts';
import { labels, NOTED_MEMBERS } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { references, typeOfKind } from '../../collections/references.ts';
import { resource } from '../../collections/resource.ts';
import { ApiError } from '../../errors/errors.ts';
import { Backend } from '../../modules/interfaces.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { checkLabelLimits } from '../../text-limits.ts';
import { liveLabelledTunnels } from '../tunnels/live-tunnels.ts';

const LABELS_MAX = 16;
const LABEL_MAX_BYTES = 255;

const OF_KIND = { kind: 'TUNNEL_GROUP' } as const;

const ROW = { prefix: 'bkdtg', path: '/backends/tunnel_group' };

const TunnelGroupBackend = builder.prismaObject('Backend', {
  variant: 'TunnelGroupBackend',
  description: 'Every live tunnel of your account that has certain labels. Traffic is shared out evenly among them.',
  interfaces: [Node, Backend],
  fields: (t) => ({
    ...rowFields(t, ROW),
    labels: t.field({
      type: 'Labels',
      description: 'The labels that a tunnel must have, all of them, to belong to the group.',
      select: { labels: true },
      resolve: ({ labels }) => labels as Labels,
    }),
    tunnels: t.field({
      type: [typeOfKind('tunnel')],
      description: 'The tunnels that belong to it and are live now, the newest first.',
      select: { labels: true },
      resolve: references(async ({ labels }, context) =>
        (await liveLabelledTunnels(context))
          .filter((tunnel) => matchesLabels(labels as Labels, tunnel.labels))
          .map(({ id }) => id),
      ),
    }),
  }),
});

/** The labels as the search shows them: `key=value`, in SQL. */
const LABELS = `(SELECT string_agg(key || '=' || value, ', ' ORDER BY key) FROM jsonb_each_text(t.labels))`;

const labelsHelp =
  'The labels that a tunnel must have, as `{ "app": "shop" }`: 1 to 16 of them, keys and values of 1 to 255 bytes, ' +
  'keys without `=`.';

export const tunnelGroupBackends = resource({
  kind: 'tunnelGroupBackend',
  model: 'Backend',
  ...ROW,
  ref: TunnelGroupBackend,
  listKey: 'backends',
  shows: 'id uri createdAt description metadata labels tunnels { id uri }',
  members: { ...NOTED_MEMBERS, labels: labels('labels') },
  where: () => OF_KIND,
  audit: { name: 'tunnel_group_backend', subject: 'A tunnel group backend' },
  conflicts: { inUse: 'backendInUse' },
  search: {
    ...{ rank: 140, table: 'backend', title: LABELS, detail: 't.description' },
    ...{ texts: [LABELS, ...NOTE_COLUMNS], where: `t.kind = 'TUNNEL_GROUP'` },
  },
  create: {
    description:
      'Creates a tunnel group. Edges and routes can send their traffic to it; tunnels need not be there yet.',
    input: (t) => ({ labels: t.field({ type: 'Labels', required: true, description: labelsHelp }) }),
    write: (input) => ({ labels: checkSelector(input.labels) }),
  },
  update: {
    description: 'Changes a tunnel group. Traffic follows its new labels at once.',
    input: (t) => ({
      labels: t.field({
        type: 'Labels',
        description: `${labelsHelp} Replaces all of them; none, as \`{}\`, keeps them.`,
      }),
    }),
    // {} is what clients send who were not given any.
    write: ({ labels: given }) => ({
      labels: given && Object.keys(given).length > 0 ? checkSelector(given) : undefined,
    }),
  },
  remove: {
    description:
      'Deletes a tunnel group. Answers with its id; fails with `CONFLICT` while an edge or a route sends traffic to it.',
  },
});

export const { routes } = tunnelGroupBackends;

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

/** @throws {ApiError} when there are none or too many, or a key or a value is not of the right length. */
function checkSelector(labels: Labels): Labels {
  if (Object.keys(labels).length === 0) throw new ApiError('labelsMissing', { member: 'labels' });
  return checkLabelLimits(labels, { count: LABELS_MAX, key: LABEL_MAX_BYTES, value: LABEL_MAX_BYTES });
}
