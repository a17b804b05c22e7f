// What is to be known of the gateway before an agent connects. In GraphQL only.

import { readFile } from 'node:fs/promises';
import { GATEWAY_VERSION } from '../../../tunnel/session/auth-response.ts';
import { builder } from '../../builder/builder.ts';
import type { AgentEndpointInfo } from '../../dependencies.ts';
import type { Route } from '../../route.ts';
import { agentAddress } from './agent-address.ts';

const GatewayInfo = builder.objectRef<AgentEndpointInfo>('GatewayInfo').implement({
  description: 'What is to be known of the gateway before an agent connects to it.',
  fields: (t) => ({
    agentAddress: t.string({
      description:
        'Where agents connect, for their `GATEWAY_ADDR`: host and port. The host is the first of `AGENT_HOSTS`; else the ' +
        'address that the gateway listens on; else, when that is none that other machines can use, the one you came by.',
      resolve: (door, _, { baseUrl }) => agentAddress(door, baseUrl),
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
  }),
});

builder.queryField('gatewayInfo', (t) =>
  t.field({
    type: GatewayInfo,
    nullable: true,
    description: 'What is to be known of the gateway before an agent connects to it.',
    resolve: (_, __, { app }) => app.agentEndpoint(),
  }),
);

export const routes: Route[] = [];
