// Tunnels: what agents serve right now, at an address of its own or by labels.

import { type Labels, matchesLabels } from '../../../tunnel/endpoints/endpoint.ts';
import { builder } from '../../builder/builder.ts';
import { collection, Node, readRoutes } from '../../collections/collection.ts';
import { ID_MEMBER, id, labels, text, time } from '../../collections/members.ts';
import { uriField } from '../../collections/notes.ts';
import { reference, references, requiredReference, typeOfKind } from '../../collections/references.ts';
import { EndpointProto, endpointProtoOf } from './any-endpoint.ts';
import { openOnLiveNodes, tunnelGroups } from './live-tunnels.ts';

const PATH = '/tunnels';

export const Tunnel = builder.prismaObject('Tunnel', {
  description:
    'What an agent serves now: at an address of its own, or, when it has labels, for the edges that choose it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `tn_…`.' }),
    publicUrl: t.exposeString('publicUrl', {
      nullable: true,
      description: 'The URL it answers at; null when it has labels instead.',
    }),
    startedAt: t.expose('startedAt', { type: 'Timestamp', description: 'When it was opened.' }),
    metadata: t.exposeString('metadata', { description: 'What the agent noted of it, for machines.' }),
    proto: t.field({
      type: EndpointProto,
      nullable: true,
      description: 'What is spoken there: `HTTP`, `HTTPS`, `TCP` or `TLS`; null when it has labels instead.',
      select: { proto: true },
      resolve: ({ proto }) => (proto === null ? null : endpointProtoOf({ proto })),
    }),
    region: t.exposeString('region', { description: 'The region of the gateway that it is open to.' }),
    uri: uriField(t, () => PATH),
    tunnelSession: t.field({
      type: typeOfKind('tunnelSession'),
      description: 'The session of the agent that serves it; further ones are among its `legs`.',
      select: { sessionId: true },
      resolve: requiredReference(({ sessionId }) => sessionId),
    }),
    endpoint: t.field({
      type: typeOfKind('endpoint'),
      nullable: true,
      description: 'The endpoint that it serves; null when it has labels instead.',
      select: { endpoint: { select: { id: true } } },
      resolve: reference(({ endpoint }) => endpoint?.id),
    }),
    labels: t.field({
      type: 'Labels',
      description: 'Its labels, by which backends choose it; empty when it has an address of its own.',
      select: { labels: true },
      resolve: ({ labels }) => labels as Labels,
    }),
    backends: t.field({
      type: [typeOfKind('tunnelGroupBackend')],
      description: 'The backends that choose it by its labels, the newest first.',
      select: { labels: true, publicUrl: true },
      resolve: references(async ({ labels, publicUrl }, context) =>
        publicUrl !== null
          ? []
          : (await tunnelGroups(context))
              .filter((group) => matchesLabels(group.labels, labels as Labels))
              .map(({ id }) => id),
      ),
    }),
    forwardsTo: t.exposeString('forwardsTo', { description: 'Where the agent sends what comes, as the agent says.' }),
  }),
});

const tunnels = collection({
  kind: 'tunnel',
  prefix: 'tn',
  path: PATH,
  single: 'tunnel',
  plural: 'tunnels',
  typeName: 'Tunnel',
  ref: Tunnel,
  members: {
    ...ID_MEMBER,
    started_at: time('startedAt'),
    metadata: text('metadata'),
    public_url: text('publicUrl', { isNullable: true, isOrdered: true }),
    proto: text('proto', { isNullable: true, enumRef: EndpointProto }),
    region: text('region'),
    'tunnel_session.id': id('sessionId'),
    labels: labels('labels'),
    forwards_to: text('forwardsTo'),
  },
  table: (db) => db.tunnel,
  where: openOnLiveNodes,
});

const selection =
  'id publicUrl startedAt metadata proto region tunnelSession { id uri } endpoint { id uri } labels ' +
  'backends { id uri } forwardsTo';

export const routes = readRoutes(tunnels, 'tunnels', selection);
