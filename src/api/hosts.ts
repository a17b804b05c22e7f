// What modules belong to: HTTPS edges, their routes, TLS edges.

import type { Host } from './module.ts';

const edge: Pick<Host, 'find' | 'update' | 'hasEdge'> = {
  hasEdge: false,
  find: (db, where, select) => db.edge.findFirst({ where, select }),
  update: (db, id, data) => db.edge.update({ where: { id }, data, select: { id: true } }),
};

export const httpsEdge: Host = { ...edge, kind: 'httpsEdge', prefix: 'edghts', path: '/edges/https/:id' };

export const tlsEdge: Host = { ...edge, kind: 'tlsEdge', prefix: 'edgtls', path: '/edges/tls/:id' };

export const httpsEdgeRoute: Host = {
  kind: 'httpsEdgeRoute',
  prefix: 'edghtsrt',
  path: '/edges/https/:edge_id/routes/:id',
  hasEdge: true,
  find: (db, where, select) => db.route.findFirst({ where, select }),
  update: (db, id, data) => db.route.update({ where: { id }, data, select: { id: true } }),
};
