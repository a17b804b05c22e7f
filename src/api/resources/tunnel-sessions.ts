// Tunnel sessions: the agents that are connected right now.

import { builder, Ref } from '../builder.ts';
import { collection, Node, reads } from '../collection.ts';
import { ofLiveNodes } from '../live.ts';

const TunnelSession = builder.prismaObject('TunnelSession', {
  description: 'An agent that is connected now.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ts_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/tunnel_sessions/${id}`),
    }),
    agentVersion: t.exposeString('agentVersion', { description: 'The version of the agent, as the agent says.' }),
    credential: t.field({
      type: Ref,
      nullable: true,
      description: 'The credential that it was opened with; null when that has been deleted.',
      select: { credentialId: true },
      resolve: ({ credentialId: id }) => (id === null ? null : { id, path: `/credentials/${id}` }),
    }),
    ip: t.exposeString('ip', { description: 'The address of the agent as the gateway sees it.' }),
    metadata: t.exposeString('metadata', { description: 'What the agent noted of it, for machines.' }),
    os: t.exposeString('os', { description: 'The operating system of the agent, as the agent says.' }),
    region: t.exposeString('region', { description: 'The region of the gateway that the agent is connected to.' }),
    startedAt: t.expose('startedAt', { type: 'Timestamp', description: 'When the agent connected.' }),
    transport: t.exposeString('transport', { description: 'What agent and gateway speak, as `muxado/2`.' }),
  }),
});

const tunnelSessions = collection({
  kind: 'tunnelSession',
  prefix: 'ts',
  path: '/tunnel_sessions',
  single: 'tunnelSession',
  plural: 'tunnelSessions',
  typeName: 'TunnelSession',
  ref: TunnelSession,
  table: (db) => db.tunnelSession,
  where: ofLiveNodes,
});

const selection = 'id uri agentVersion credential { id uri } ip metadata os region startedAt transport';

export const routes = reads(tunnelSessions, 'tunnel_sessions', selection);
