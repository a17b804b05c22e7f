// TCP edges: reserved TCP addresses whose connections go to a backend.

import { builder } from '../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../builder/field-cost.ts';
import { collection, Node, readRoutes } from '../collections/collection.ts';
import { id } from '../collections/members.ts';
import { givesNew, givesObject, mutation } from '../collections/mutation.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { tcpEdge } from '../modules/hosts.ts';
import { tcpEdgeModules as modules } from '../modules/index.ts';
import { Edge, hostportsOf, hostportsSelect, PolicyHost } from '../modules/interfaces.ts';
import { addModules, modulesSelection } from '../modules/module.ts';
import { route } from '../route.ts';
import { createEdge, EDGE_MEMBERS, edgeDeletion, edgeSearch, tcpEdgeInputs, updateEdge } from './edges/edge.ts';

export const TcpEdge = builder.prismaObject('Edge', {
  variant: 'TcpEdge',
  description: 'A configured public entry: it sends each connection to its TCP addresses to a backend.',
  interfaces: [Node, Edge, PolicyHost],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `edgtcp_…`.' }),
    hostports: t.stringList({
      description: 'The reserved TCP addresses that it answers; null when it has none.',
      nullable: true,
      select: hostportsSelect,
      resolve: (edge) => (edge.hostports.length === 0 ? null : hostportsOf(edge)),
    }),
  }),
});

const tcpEdges = collection({
  kind: 'tcpEdge',
  prefix: 'edgtcp',
  path: '/edges/tcp',
  single: 'tcpEdge',
  plural: 'tcpEdges',
  typeName: 'TcpEdge',
  ref: TcpEdge,
  members: { ...EDGE_MEMBERS, 'backend.backend.id': id('backendId', { isNullable: true }) },
  table: (db) => db.edge,
  where: () => ({ kind: 'TCP' }),
  audit: tcpEdge.audit,
  search: edgeSearch(125, 'TCP'),
});

const host = { ...tcpEdge, kind: 'tcpEdge' } as const;
const { create: CreateTcpEdgeInput, update: UpdateTcpEdgeInput } = tcpEdgeInputs(modules);
addModules(TcpEdge, modules);

mutation('createTcpEdge', givesNew('tcpEdge', 'TcpEdge'), (t) =>
  t.prismaField({
    type: TcpEdge,
    nullable: true,
    access: { kind: 'tcpEdge' },
    weight: FEW_PER_DOCUMENT,
    description: 'Creates a TCP edge. It answers once it has a backend.',
    args: {
      input: t.arg({ type: CreateTcpEdgeInput, required: true, description: 'The edge to create.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => createEdge(host, modules, context, query, input),
  }),
);

mutation('updateTcpEdge', givesObject('tcpEdge'), (t) =>
  t.prismaField({
    type: TcpEdge,
    nullable: true,
    access: { kind: 'tcpEdge' },
    weight: FEW_PER_DOCUMENT,
    description: 'Changes a TCP edge.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the edge.' }),
      input: t.arg({ type: UpdateTcpEdgeInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => updateEdge(host, modules, context, query, id, input),
  }),
);

edgeDeletion(host, 'deleteTcpEdge', { description: 'Deletes a TCP edge. Answers with its id.' });

const selection = `id uri createdAt description metadata hostports ${modulesSelection(modules)}`;

export const routes = [
  route('POST', '/edges/tcp', 201, 'createTcpEdge', selection),
  ...readRoutes(tcpEdges, 'tcp_edges', selection),
  route('PATCH', '/edges/tcp/:id', 200, 'updateTcpEdge', selection),
  route('DELETE', '/edges/tcp/:id', 204, 'deleteTcpEdge'),
];
