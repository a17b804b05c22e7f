// What modules belong to: HTTPS edges, their routes, TLS and TCP edges, cloud endpoints.

import type { ModulesSettings } from '../../edge/modules/descriptor.ts';
import { endsTlsBySettings, requiresCertificate } from '../../edge/modules/tls.ts';
import { trafficPolicyModule } from '../../edge/modules/traffic-policy.ts';
import { usesAction } from '../../policy/settings/policy-text.ts';
import type { Db } from '../../store/database/client.ts';
import { syncEdgeEndpoints } from '../../store/edges/edge-endpoints.ts';
import { storedModule } from '../../store/edges/module-rows.ts';
import { maskedPolicy } from '../../store/edges/policy-secrets.ts';
import { ApiError } from '../errors/errors.ts';
import type { ModuleHost } from './module.ts';

const edge: Pick<ModuleHost, 'table' | 'find' | 'update' | 'hasEdge'> = {
  table: 'edge',
  hasEdge: false,
  find: (db, where, select) => db.edge.findUnique({ where, select }),
  update: (db, id, data) => db.edge.update({ where: { id }, data, select: { id: true } }),
};

export const httpsEdge: ModuleHost = {
  ...edge,
  kind: 'httpsEdge',
  audit: { name: 'https_edge', subject: 'An HTTPS edge' },
  prefix: 'edghts',
  protocol: 'https',
  path: '/edges/https/:id',
  afterWrite: syncEdgeEndpoints,
};

export const tlsEdge: ModuleHost = {
  ...edge,
  kind: 'tlsEdge',
  audit: { name: 'tls_edge', subject: 'A TLS edge' },
  prefix: 'edgtls',
  protocol: 'tls',
  path: '/edges/tls/:id',
  async afterWrite(audit, id) {
    await checkTermination(audit.db, id);
    await syncEdgeEndpoints(audit, id);
  },
};

export const tcpEdge: ModuleHost = {
  ...edge,
  kind: 'tcpEdge',
  audit: { name: 'tcp_edge', subject: 'A TCP edge' },
  prefix: 'edgtcp',
  protocol: 'tcp',
  path: '/edges/tcp/:id',
  afterWrite: syncEdgeEndpoints,
};

/** The row that holds the URL and the policy of a cloud endpoint. Its protocol is that of the URL. */
export const cloudEndpoint: ModuleHost = {
  ...edge,
  kind: 'cloudEndpoint',
  audit: { name: 'cloud_endpoint', subject: 'A cloud endpoint' },
  prefix: 'edgcld',
  protocol: 'https',
  path: '/endpoints/:id',
  afterWrite: syncEdgeEndpoints,
};

export const httpsEdgeRoute: ModuleHost = {
  kind: 'httpsEdgeRoute',
  audit: { name: 'https_edge_route', subject: 'A route of an HTTPS edge' },
  conflicts: { taken: 'routeMatchTaken' },
  table: 'route',
  prefix: 'edghtsrt',
  protocol: 'https',
  path: '/edges/https/:edge_id/routes/:id',
  hasEdge: true,
  find: (db, where, select) => db.route.findUnique({ where, select }),
  update: (db, id, data) => db.route.update({ where: { id }, data, select: { id: true } }),
  async afterWrite(audit, id) {
    const { edgeId } = await audit.db.route.findUniqueOrThrow({ where: { id }, select: { edgeId: true } });
    await syncEdgeEndpoints(audit, edgeId);
  },
};

/** Two requests at once cannot make a pair that does not go together: the edge's row is locked, as it was written. */
async function checkTermination(db: Db, id: string): Promise<void> {
  const row = await db.edge.findUniqueOrThrow({ where: { id }, select: { modules: true } });
  const modules = row.modules as ModulesSettings; // Only modules write there.
  if (!requiresCertificate(modules)) return;
  if (!endsTlsBySettings(modules)) throw new ApiError('clientCertificateNeedsTermination');
  const policy = storedModule(row, trafficPolicyModule);
  if (policy?.enabled && usesAction(maskedPolicy('edge', policy).value, 'terminate-tls'))
    throw new ApiError('tlsEndedTwice');
}
