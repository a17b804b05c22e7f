// What newer clients read of an endpoint: its URL in parts, who holds it, and where it leads.

import { SECRET_MASK } from '../../../protocol/policy/policy-secrets.ts';
import {
  bindingOf,
  cloudPolicyOf,
  type EndpointParties,
  endpointNameOf,
  partiesOf,
  pooledAddresses,
} from '../../../store/events/endpoint-facts.ts';
import { readPublicUrl } from '../../../tunnel/bind/bind-name.ts';
import { builder } from '../../builder/builder.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import { viewRowOf } from '../../collections/loaded-page.ts';
import { uriField } from '../../collections/notes.ts';
import { reference, typeOfKind } from '../../collections/references.ts';
import type { Route } from '../../route.ts';
import { Owner } from '../accounts/owner.ts';
import { anyEndpointHelp } from './any-endpoint.ts';
import { cloudUrlSelect, shownCloudUrl } from './cloud-urls.ts';
import { Endpoint } from './endpoints.ts';

const partiesByTunnel = batchLoad(({ db }, tunnelIds) => partiesOf(db, tunnelIds));

/** A resolver of one of those behind an endpoint. A list of all endpoints knows them with its rows. */
const party = (name: keyof EndpointParties) =>
  reference(async (endpoint: { id: string; tunnelId: string | null }, context) => {
    const { tunnelId } = endpoint;
    const parties =
      viewRowOf<EndpointParties>(endpoint) ?? (tunnelId && (await partiesByTunnel(context, tunnelId, {})));
    return parties ? parties[name] : null;
  });

const isPooled = batchLoad(async ({ db }, addresses) => {
  const pooled = await pooledAddresses(db, addresses);
  return new Map(addresses.map((address) => [address, pooled.has(address)]));
});

builder.prismaObjectFields(Endpoint, (t) => ({
  uri: uriField(t, () => '/endpoints'),
  url: t.string({
    description:
      'The same as `publicUrl`; of a cloud endpoint the URL that was sent, without the port of the listener.',
    select: { publicUrl: true, type: true, edge: { select: cloudUrlSelect } },
    resolve: ({ publicUrl, type, edge }) => (type === 'CLOUD' && edge ? shownCloudUrl(edge) : publicUrl),
  }),
  scheme: t.exposeString('proto', { description: 'The first part of its URL, which is its `proto`.' }),
  host: t.string({
    description: 'The host of its URL.',
    select: { publicUrl: true },
    resolve: ({ publicUrl }) => readPublicUrl(publicUrl).host,
  }),
  port: t.int({
    description: 'The port of its URL, also where the URL leaves it out.',
    select: { publicUrl: true },
    resolve: ({ publicUrl }) => readPublicUrl(publicUrl).port,
  }),
  name: t.string({
    description:
      'What it is called: in the configuration of its agent, or where the cloud endpoint was created; "" where it has no name, and of an edge.',
    select: { tunnel: { select: { name: true } }, edge: { select: { name: true } } },
    resolve: (endpoint) => endpointNameOf(endpoint),
  }),
  description: t.string({
    description: 'The description of the edge that serves it, or of the cloud endpoint; "" of a tunnel.',
    select: { edge: { select: { description: true } } },
    resolve: ({ edge }) => edge?.description ?? '',
  }),
  principal: t.field({
    type: Owner,
    nullable: true,
    description: anyEndpointHelp.principal,
    select: { tunnelId: true },
    resolve: party('principalId'),
  }),
  credential: t.field({
    type: typeOfKind('credential'),
    nullable: true,
    description: anyEndpointHelp.credential,
    select: { tunnelId: true },
    resolve: party('credentialId'),
  }),
  agent: t.field({
    type: typeOfKind('agent'),
    nullable: true,
    description: anyEndpointHelp.agent,
    select: { tunnelId: true },
    resolve: party('agentId'),
  }),
  bindings: t.stringList({
    description: 'Who can reach it: `public`, or `internal` when only traffic policies of your account can.',
    select: { publicUrl: true },
    resolve: (endpoint) => [bindingOf(endpoint)],
  }),
  poolingEnabled: t.boolean({
    description: 'Whether several tunnels and cloud endpoints may serve its address together.',
    select: { address: true, edge: { select: { cloudUrl: { select: { pooling: true } } } } },
    resolve: async ({ address, edge }, _, context) =>
      edge?.cloudUrl?.pooling ?? (address !== null && ((await isPooled(context, address, {})) ?? false)),
  }),
  trafficPolicy: t.string({
    description: `The traffic policy of a cloud endpoint, with \`${SECRET_MASK}\` in place of each secret; "" of others.`,
    select: { type: true, edge: { select: { modules: true } } },
    resolve: (endpoint) => cloudPolicyOf(endpoint),
  }),
  upstreamUrl: t.string({
    description: 'The same as `forwardsTo`; "" when an edge serves it.',
    select: { tunnel: { select: { forwardsTo: true } } },
    resolve: ({ tunnel }) => tunnel?.forwardsTo ?? '',
  }),
  upstreamProtocol: t.string({
    description:
      'What its agent speaks to the upstream of an HTTP endpoint, as it was opened: `http1` or `http2`; "" of TCP and TLS, and when an ' +
      'edge serves it.',
    select: { tunnel: { select: { upstreamProtocol: true } } },
    resolve: ({ tunnel }) => tunnel?.upstreamProtocol ?? '',
  }),
}));

export const routes: Route[] = [];
