// HTTPS edges: configured public entries whose requests go to a backend by route.

import { builder } from '../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../builder/field-cost.ts';
import { collection, Node, readRoutes } from '../collections/collection.ts';
import { givesNew, givesObject, mutation } from '../collections/mutation.ts';
import type { Context } from '../context.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { httpsEdge, httpsEdgeRoute } from '../modules/hosts.ts';
import { httpsEdgeModules as modules } from '../modules/index.ts';
import { Edge, hostportsOf, hostportsSelect, PolicyHost } from '../modules/interfaces.ts';
import { addModules, modulesSelection } from '../modules/module.ts';
import { route } from '../route.ts';
import { createEdge, EDGE_MEMBERS, edgeDeletion, edgeInputs, edgeSearch, updateEdge } from './edges/edge.ts';
import { HttpsEdgeRoute, routeSelection } from './https-edge-routes.ts';

export const HttpsEdge = builder.prismaObject('Edge', {
  variant: 'HttpsEdge',
  description:
    'A configured public entry: it terminates HTTPS for its names and sends each request to a backend by route.',
  interfaces: [Node, Edge, PolicyHost],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `edghts_…`.' }),
    hostports: t.stringList({
      description: 'The names and ports it answers.',
      select: hostportsSelect,
      resolve: hostportsOf,
    }),
    routes: t.relation('routes', {
      type: HttpsEdgeRoute,
      description: 'Where its requests go, in the order in which the routes were created.',
      query: { orderBy: { id: 'asc' } },
    }),
  }),
});

const httpsEdges = collection({
  kind: 'httpsEdge',
  prefix: 'edghts',
  path: '/edges/https',
  single: 'httpsEdge',
  plural: 'httpsEdges',
  typeName: 'HttpsEdge',
  ref: HttpsEdge,
  members: EDGE_MEMBERS,
  table: (db) => db.edge,
  where: () => ({ kind: 'HTTPS' }),
  audit: httpsEdge.audit,
  search: edgeSearch(110, 'HTTPS'),
});

const host = { ...httpsEdge, kind: 'httpsEdge' } as const;
const { create: CreateHttpsEdgeInput, update: UpdateHttpsEdgeInput } = edgeInputs('HttpsEdge', modules);
addModules(HttpsEdge, modules);

mutation('createHttpsEdge', givesNew('httpsEdge', 'HttpsEdge'), (t) =>
  t.prismaField({
    type: HttpsEdge,
    nullable: true,
    access: { kind: 'httpsEdge' },
    weight: FEW_PER_DOCUMENT,
    description: 'Creates an HTTPS edge. It answers once it has a route with a backend.',
    args: {
      input: t.arg({ type: CreateHttpsEdgeInput, required: true, description: 'The edge to create.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => createHttpsEdge(query, input, context),
  }),
);

/** @param query what is to be read of it. @throws {ApiError} when the input is not as it should be. */
export function createHttpsEdge(query: object, input: typeof CreateHttpsEdgeInput.$inferInput, context: Context) {
  return createEdge(host, modules, context, query, input);
}

mutation('updateHttpsEdge', givesObject('httpsEdge'), (t) =>
  t.prismaField({
    type: HttpsEdge,
    nullable: true,
    access: { kind: 'httpsEdge' },
    weight: FEW_PER_DOCUMENT,
    description: 'Changes an HTTPS edge.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the edge.' }),
      input: t.arg({ type: UpdateHttpsEdgeInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => updateEdge(host, modules, context, query, id, input),
  }),
);

edgeDeletion(host, 'deleteHttpsEdge', {
  description: 'Deletes an HTTPS edge with its routes. Answers with its id.',
  cascade: { resource: httpsEdgeRoute, objects: (_, edge) => (edge as { routes: object[] }).routes },
});

const selection = `id uri createdAt description metadata hostports ${modulesSelection(modules)} routes { ${routeSelection} }`;

export const routes = [
  route('POST', '/edges/https', 201, 'createHttpsEdge', selection),
  ...readRoutes(httpsEdges, 'https_edges', selection),
  route('PATCH', '/edges/https/:id', 200, 'updateHttpsEdge', selection),
  route('DELETE', '/edges/https/:id', 204, 'deleteHttpsEdge'),
];
