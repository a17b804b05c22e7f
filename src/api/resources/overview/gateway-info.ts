// What is to be known of the gateway before an agent connects. In GraphQL only.

import { readFile } from 'node:fs/promises';
import { GATEWAY_VERSION } from '../../../tunnel/session/auth-response.ts';
import { builder } from '../../builder/builder.ts';
import type { Context } from '../../context.ts';
import type { AgentEndpointInfo, NodeFacts } from '../../dependencies.ts';
import type { Route } from '../../route.ts';
import { agentAddress } from './agent-address.ts';
import { apiNeedsCa } from './api-certificate.ts';

interface GatewayNodeRow {
  id: string;
  address: string;
  sessions: number;
  isAsked: boolean;
  facts: NodeFacts | undefined;
}

const GatewayNode = builder.objectRef<GatewayNodeRow>('GatewayNode').implement({
  description: 'A node of the gateway: one of the processes that share its database.',
  fields: (t) => ({
    nodeId: t.exposeID('id', {
      description: 'Its id: `node_…`, which is the `nodeId` of endpoints and sessions at it.',
    }),
    address: t.string({
      nullable: true,
      description: 'Where the other nodes reach it; null when they do not, and for who is no admin.',
      resolve: ({ address }, _, { caller }) => (caller.isAdmin && address !== '' ? address : null),
    }),
    startedAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When it started; null while it is not reachable.',
      resolve: ({ facts }) => facts && new Date(facts.startedAt),
    }),
    version: t.string({
      nullable: true,
      description: 'Its version; null while it is not reachable.',
      resolve: ({ facts }) => facts?.version,
    }),
    sessions: t.exposeInt('sessions', { description: 'How many agents of your account are connected to it.' }),
    isReachable: t.boolean({
      description: 'Whether the node that answers you has reached it within a second; it always reaches itself.',
      resolve: ({ facts }) => facts !== undefined,
    }),
    isAnswering: t.exposeBoolean('isAsked', { description: 'Whether it is the node that answers you.' }),
  }),
});

const GatewayInfo = builder.objectRef<AgentEndpointInfo>('GatewayInfo').implement({
  description: 'What is to be known of the gateway before an agent connects to it.',
  fields: (t) => ({
    agentAddress: t.string({
      description:
        'Where agents connect, for their `GATEWAY_ADDR`: host and port. The host is the first of `AGENT_HOSTS`; else the ' +
        'address that the gateway listens on; else, when that is none that other machines can use, the one you came by.',
      resolve: (door, _, { baseUrl }) => agentAddress(door, baseUrl),
    }),
    needsCa: t.boolean({
      description:
        'Whether agents that connect to `agentAddress` must be given `caCertificate`; false where the operator gave the listener ' +
        'a certificate for that name, or the gateway obtained one: agents then trust the authorities that Node trusts, or those ' +
        'in the file of their `GATEWAY_CA`.',
      resolve: async (door, _, { baseUrl }) =>
        !(await door.hasOwnCertificate(agentAddress(door, baseUrl).replace(/:\d+$/, ''))),
    }),
    apiNeedsCa: t.boolean({
      description:
        'Whether who calls this API has to be given `caCertificate`: it is to show a certificate that the gateway obtains, and ' +
        'none was obtained yet.',
      resolve: (_, __, { app, baseUrl }) => apiNeedsCa(app, baseUrl),
    }),
    caFile: t.string({
      nullable: true,
      description:
        'The file with the certificate that agents are to trust, for their `GATEWAY_CA`; null when you ask from another ' +
        'machine than the gateway’s own.',
      resolve: ({ caFile }, _, { client }) => (client.isLoopback ? caFile : null),
    }),
    caCertificate: t.string({
      description: 'The same certificate in PEM: to be put into a file on the machines of the agents.',
      resolve: ({ caFile }) => readFile(caFile, 'utf8'),
    }),
    version: t.string({
      description: 'The version of the gateway, as agents are told it.',
      resolve: () => GATEWAY_VERSION,
    }),
    obtainsCertificates: t.boolean({
      description:
        'Whether the gateway obtains certificates of reserved domains: its operator has agreed to the terms of an authority.',
      resolve: (_, __, { app }) => app.config.acmeTermsAgreed,
    }),
    nodes: t.field({
      type: [GatewayNode],
      nullable: true,
      description: 'The nodes of the gateway that are alive by what the database knows, in the order of their ids.',
      resolve: (_, __, context) => gatewayNodes(context),
    }),
  }),
});

async function gatewayNodes({ app, db, accountId }: Context): Promise<GatewayNodeRow[]> {
  const facts = await app.nodes.reachable();
  const rows = await db.$queryRaw<{ id: string; address: string; sessions: number }[]>`
    SELECT n.id, n.address, count(s.id)::int AS sessions
    FROM node n LEFT JOIN tunnel_session s ON s.node_id = n.id AND s.account_id = ${accountId}
    WHERE n.lease_until > now() GROUP BY n.id ORDER BY n.id`;
  return rows.map((row) => ({ ...row, isAsked: row.id === app.nodes.ownId, facts: facts.get(row.id) }));
}

builder.queryField('gatewayInfo', (t) =>
  t.field({
    type: GatewayInfo,
    nullable: true,
    access: { kind: null },
    description: 'What is to be known of the gateway before an agent connects to it.',
    resolve: (_, __, { app }) => app.agentEndpoint(),
  }),
);

export const routes: Route[] = [];
