// What edges of all kinds have in common, what backends of all kinds have, and what all have that carry a traffic policy.

import { asWritten } from '../as-written.ts';
import { builder, type ObjectRow } from '../builder/builder.ts';
import { Node, resourceOf } from '../collections/nodes.ts';
import { commonFields, uriField } from '../collections/notes.ts';
import { joined, named, related } from '../collections/related.ts';

/** What of an edge's row gives its hostports, in the order in which they were given. */
export const hostportsSelect = {
  hostports: { select: { hostport: true, written: true }, orderBy: { position: 'asc' } },
} as const;

/** The hostports of an edge, as they were written. */
export function hostportsOf(edge: { hostports: readonly { hostport: string; written: string | null }[] }): string[] {
  return edge.hostports.map(({ hostport, written }) => asWritten(hostport, written, (text) => text.toLowerCase()));
}

export const Edge = builder.prismaInterface('Edge', {
  name: 'Edge',
  description: 'A configured public entry, of any kind.',
  interfaces: [Node],
  resolveType: ({ id }) => resourceOf(id)?.typeName,
  fields: (t) => ({
    ...commonFields(t, 'Its id: `edg…_…`; what it begins with tells the kind.'),
    hostports: t.stringList({
      nullable: true,
      description: 'The names or addresses, with ports, that it answers; null of a TCP edge that has none.',
      select: hostportsSelect,
      resolve: hostportsOf,
    }),
    endpoints: related(t, {
      ...{ kind: 'endpoint', on: named('edge_id'), member: 'edge.id' },
      description: 'The endpoints that it serves: one for each of its names that answers.',
    }),
  }),
});

export const PolicyHost = builder.interfaceRef<ObjectRow>('PolicyHost').implement({
  description: 'What can have a traffic policy: a route, an edge, or a cloud endpoint.',
  interfaces: [Node],
  resolveType: ({ id }) => resourceOf(id)?.typeName,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the object.' }),
    uri: uriField(t, (id) => resourceOf(id)?.path ?? ''),
  }),
});

export const Backend = builder.prismaInterface('Backend', {
  name: 'Backend',
  description: 'What the traffic of edges and routes goes to, of any kind.',
  interfaces: [Node],
  resolveType: ({ id }) => resourceOf(id)?.typeName,
  fields: (t) => ({
    ...commonFields(t, 'Its id: `bkd…_…`; what it begins with tells the kind.'),
    httpsEdgeRoutes: related(t, {
      ...{ kind: 'httpsEdgeRoute', on: named('backend_id') },
      description: 'The routes of HTTPS edges that send their requests to it.',
    }),
    tlsEdges: related(t, {
      ...{ kind: 'tlsEdge', on: named('backend_id') },
      description: 'The TLS edges that send their connections to it.',
    }),
    tcpEdges: related(t, {
      ...{ kind: 'tcpEdge', on: named('backend_id') },
      description: 'The TCP edges that send their connections to it.',
    }),
    weightedBackends: related(t, {
      ...{ kind: 'weightedBackend', on: joined('backend_member', 'member_id', 'backend_id') },
      description: 'The weighted backends that it is a member of.',
    }),
    failoverBackends: related(t, {
      ...{ kind: 'failoverBackend', on: joined('backend_member', 'member_id', 'backend_id') },
      description: 'The failover backends that it is a member of.',
    }),
  }),
});
