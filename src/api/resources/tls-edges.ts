// TLS edges: configured public entries whose connections go to a backend whole.

import { builder } from '../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../builder/field-cost.ts';
import { collection, Node, readRoutes } from '../collections/collection.ts';
import { id } from '../collections/members.ts';
import { givesNew, givesObject, mutation } from '../collections/mutation.ts';
import type { Context } from '../context.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { tlsEdge } from '../modules/hosts.ts';
import { tlsEdgeModules as modules } from '../modules/index.ts';
import { Edge, hostportsOf, hostportsSelect, PolicyHost } from '../modules/interfaces.ts';
import { addModules, modulesSelection } from '../modules/module.ts';
import { route } from '../route.ts';
import { createEdge, EDGE_MEMBERS, edgeDeletion, edgeInputs, edgeSearch, updateEdge } from './edges/edge.ts';

export const TlsEdge = builder.prismaObject('Edge', {
  variant: 'TlsEdge',
  description: 'A configured public entry: it sends each TLS connection for its names to a backend.',
  interfaces: [Node, Edge, PolicyHost],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `edgtls_…`.' }),
    hostports: t.stringList({
      description: 'The names and ports it answers.',
      select: hostportsSelect,
      resolve: hostportsOf,
    }),
  }),
});

const tlsEdges = collection({
  kind: 'tlsEdge',
  prefix: 'edgtls',
  path: '/edges/tls',
  single: 'tlsEdge',
  plural: 'tlsEdges',
  typeName: 'TlsEdge',
  ref: TlsEdge,
  members: { ...EDGE_MEMBERS, 'backend.backend.id': id('backendId', { isNullable: true }) },
  table: (db) => db.edge,
  where: () => ({ kind: 'TLS' }),
  audit: tlsEdge.audit,
  search: edgeSearch(120, 'TLS'),
});

const host = { ...tlsEdge, kind: 'tlsEdge' } as const;
const { create: CreateTlsEdgeInput, update: UpdateTlsEdgeInput } = edgeInputs('TlsEdge', modules);
addModules(TlsEdge, modules);

mutation('createTlsEdge', givesNew('tlsEdge', 'TlsEdge'), (t) =>
  t.prismaField({
    type: TlsEdge,
    nullable: true,
    access: { kind: 'tlsEdge' },
    weight: FEW_PER_DOCUMENT,
    description: 'Creates a TLS edge. It answers once it has a backend.',
    args: {
      input: t.arg({ type: CreateTlsEdgeInput, required: true, description: 'The edge to create.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => createTlsEdge(query, input, context),
  }),
);

/** @param query what is to be read of it. @throws {ApiError} when the input is not as it should be. */
export function createTlsEdge(query: object, input: typeof CreateTlsEdgeInput.$inferInput, context: Context) {
  return createEdge(host, modules, context, query, input);
}

mutation('updateTlsEdge', givesObject('tlsEdge'), (t) =>
  t.prismaField({
    type: TlsEdge,
    nullable: true,
    access: { kind: 'tlsEdge' },
    weight: FEW_PER_DOCUMENT,
    description: 'Changes a TLS edge.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the edge.' }),
      input: t.arg({ type: UpdateTlsEdgeInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => updateEdge(host, modules, context, query, id, input),
  }),
);

edgeDeletion(host, 'deleteTlsEdge', { description: 'Deletes a TLS edge. Answers with its id.' });

const selection = `id uri createdAt description metadata hostports ${modulesSelection(modules)}`;

export const routes = [
  route('POST', '/edges/tls', 201, 'createTlsEdge', selection),
  ...readRoutes(tlsEdges, 'tls_edges', selection),
  route('PATCH', '/edges/tls/:id', 200, 'updateTlsEdge', selection),
  route('DELETE', '/edges/tls/:id', 204, 'deleteTlsEdge'),
];
