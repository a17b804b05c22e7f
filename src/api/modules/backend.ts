// The backend module of a route, of a TLS edge and of a TCP edge: where the traffic goes.

import { findFixedResponse, lockBackends } from '../../store/edges/backend-graph.ts';
import { builder } from '../builder/builder.ts';
import { requiredReference } from '../collections/references.ts';
import { ApiError } from '../errors/errors.ts';
import { httpsEdgeRoute, tcpEdge, tlsEdge } from './hosts.ts';
import { Backend } from './interfaces.ts';
import type { ApiModule, ModuleHost } from './module.ts';

interface Settings {
  enabled: boolean;
  backendId: string;
}

const EndpointBackend = builder.objectRef<Settings>('EndpointBackend').implement({
  description: 'The backend that the traffic of an edge or a route goes to.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: 'Whether traffic goes there.' }),
    backend: t.field({
      type: Backend,
      description: 'The backend.',
      resolve: requiredReference(({ backendId }) => backendId),
    }),
  }),
});

const EndpointBackendInput = builder.inputType('EndpointBackendInput', {
  description: 'The backend that the traffic goes to.',
  fields: (t) => ({
    enabled: t.boolean({ description: 'Whether traffic goes there. Default true.' }),
    backendId: t.id({
      description:
        'The id of a backend of your account. On TLS and TCP edges it must not be an HTTP response, nor lead to one.',
    }),
  }),
});

type Input = typeof EndpointBackendInput.$inferInput;

interface Selected {
  backendEnabled: boolean | null;
  backendId: string | null;
}

function backendOf(host: ModuleHost): ApiModule<Selected, Settings, Input> {
  return {
    host,
    field: 'backend',
    noun: 'backend',
    select: { backendEnabled: true, backendId: true },
    type: EndpointBackend,
    input: EndpointBackendInput,
    selection: 'enabled backend { id uri }',
    read: ({ backendEnabled: enabled, backendId }) =>
      enabled === null || backendId === null ? null : { enabled, backendId },
    async write({ enabled, backendId }, { context: { accountId }, db, ...place }) {
      const member = `${place.member}backendId`;
      if (!backendId) throw new ApiError('backendMissing', { member });
      const backend = await db.backend.findUnique({ where: { id: backendId, accountId }, select: { kind: true } });
      if (!backend) throw new ApiError('unknownBackend', { member });
      if (host.table === 'edge' && backend.kind !== 'TUNNEL_GROUP') {
        await lockBackends(db, accountId);
        const name = await findFixedResponse(db, backendId);
        if (name) throw new ApiError('responseOnConnectionEdge', { member, name });
      }
      return { relations: { backendEnabled: enabled ?? true, backend: { connect: { id: backendId } } } };
    },
    unset: { relations: { backendEnabled: null, backend: { disconnect: true } } },
  };
}

export const backendOfRoute = backendOf(httpsEdgeRoute);
export const backendOfTlsEdge = backendOf(tlsEdge);
export const backendOfTcpEdge = backendOf(tcpEdge);
