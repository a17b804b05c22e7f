// Endpoints: the public addresses that answer right now (specification sections 2.2 and 4.2). They come and go with
// the tunnels and edges that serve them.

import { shownEdge } from '../../../store/events/endpoint-facts.ts';
import { builder } from '../../builder/builder.ts';
import { collection, Node, readRoutes } from '../../collections/collection.ts';
import { choice, ID_MEMBER, id, text, time } from '../../collections/members.ts';
import { reference, typeOfKind } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import { cloudEndpoint } from '../../modules/hosts.ts';
import { Edge, PolicyHost } from '../../modules/interfaces.ts';
import { inLowerCase } from '../../rest-words.ts';
import { AnyEndpoint, EndpointProto, endpointProtoOf } from './any-endpoint.ts';
import { readCloudUrl } from './cloud-urls.ts';
import { countAgents, newestRoundTrip, servingSelect } from './endpoint-sessions.ts';
import { EndpointTraffic, trafficOf } from './endpoint-traffic.ts';
import { SERVED_ON_LIVE_NODES, servedOnLiveNodes } from './live-tunnels.ts';
import { RoundTripType, TunnelSession } from './tunnel-sessions.ts';

export const EndpointType = builder.enumType('EndpointType', {
  description: 'What serves an endpoint.',
  extensions: inLowerCase(),
  values: {
    EPHEMERAL: { description: 'A tunnel that an agent opened.' },
    EDGE: { description: 'An edge serves it.' },
    CLOUD: { description: 'A traffic policy answers its requests, without an agent.' },
  } as const,
});

/** What is stored of each, by its word in REST. */
export const ENDPOINT_TYPES = { ephemeral: 'EPHEMERAL', edge: 'EDGE', cloud: 'CLOUD' } as const;

const DocumentedEndpointType = builder.enumType('DocumentedEndpointType', {
  description: 'What serves an endpoint, in the words of the specification (section 2.2).',
  extensions: inLowerCase(),
  values: {
    EPHEMERAL: { description: 'A tunnel that an agent opened.' },
    EDGE: { description: 'The gateway itself, as it is configured: by an edge, or by the policy of a cloud endpoint.' },
  } as const,
});

export const Endpoint = builder.prismaObject('Endpoint', {
  description: 'A public address that answers now, served by a tunnel or by an edge.',
  interfaces: [Node, PolicyHost, AnyEndpoint],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ep_…`.' }),
    region: t.exposeString('region', { description: 'The region of the gateway that serves it.' }),
    nodeId: t.exposeID('nodeId', {
      nullable: true,
      description:
        'The node of the gateway that its agent is connected to; null when an edge serves it, as every node does.',
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it began to answer.' }),
    since: t.expose('createdAt', { type: 'Timestamp', description: 'When it began to answer: its `createdAt`.' }),
    updatedAt: t.expose('updatedAt', { type: 'Timestamp', description: 'When it last changed.' }),
    publicUrl: t.exposeString('publicUrl', { description: 'The URL it answers at; ports 80 and 443 are left out.' }),
    proto: t.field({
      type: EndpointProto,
      description: 'What is spoken there: `HTTP`, `HTTPS`, `TCP` or `TLS`.',
      select: { proto: true },
      resolve: endpointProtoOf,
    }),
    hostport: t.exposeString('hostport', { description: 'The name and the port it answers at, always with the port.' }),
    type: t.expose('type', { type: EndpointType, description: 'What serves it.' }),
    documentedType: t.field({
      type: DocumentedEndpointType,
      description: 'The same without `CLOUD`, which the specification does not know: a cloud endpoint is an `EDGE`.',
      select: { type: true },
      resolve: ({ type }) => (type === 'EPHEMERAL' ? ('EPHEMERAL' as const) : ('EDGE' as const)),
    }),
    metadata: t.exposeString('metadata', { description: 'The metadata of the tunnel or the edge that serves it.' }),
    domain: t.field({
      type: typeOfKind('reservedDomain'),
      nullable: true,
      description: 'The reserved domain that its name belongs to; null when the name is not reserved.',
      select: { domainId: true },
      resolve: reference(({ domainId }) => domainId),
    }),
    tcpAddr: t.field({
      type: typeOfKind('reservedAddress'),
      nullable: true,
      description: 'The reserved TCP address that it is; null when its port is not reserved, and where it is a name.',
      select: { addressId: true },
      resolve: reference(({ addressId }) => addressId),
    }),
    tunnel: t.field({
      type: typeOfKind('tunnel'),
      nullable: true,
      description: 'The tunnel that serves it; null when an edge does.',
      select: { tunnelId: true },
      resolve: reference(({ tunnelId }) => tunnelId),
    }),
    edge: t.field({
      type: Edge,
      nullable: true,
      description: 'The edge that serves it; null when a tunnel does, and of a cloud endpoint.',
      select: { edgeId: true, type: true },
      resolve: reference((endpoint) => shownEdge(endpoint)),
    }),
    traffic: t.field({
      type: EndpointTraffic,
      nullable: true,
      description:
        'What passes through it, at all nodes of the gateway together; null when none serves it that answers within a ' +
        'second.',
      resolve: ({ id }, _, context) => trafficOf(context, id),
    }),
    tunnelSession: t.field({
      type: TunnelSession,
      nullable: true,
      description:
        'The session of the agent that serves it; null when an edge does. The agent may serve it in further sessions, which ' +
        'are among its `legs`.',
      select: (_args, _context, nested) => ({ tunnel: { select: { session: nested() } } }),
      resolve: ({ tunnel }) => tunnel?.session ?? null,
    }),
    forwardsTo: t.string({
      nullable: true,
      description: 'Where the agent sends what comes, as the agent says; null when an edge serves it.',
      select: { tunnel: { select: { forwardsTo: true } } },
      resolve: ({ tunnel }) => tunnel?.forwardsTo ?? null,
    }),
    roundTrip: t.field({
      type: RoundTripType,
      nullable: true,
      description:
        'The newest heartbeat that came back from an agent behind it, of an edge too; null when no node of the gateway ' +
        'knows of one that answers within a second.',
      select: servingSelect,
      resolve: (endpoint, _, context) => newestRoundTrip(endpoint, context),
    }),
    agents: t.int({
      description:
        'How many agents are behind it now: one, or at an edge all those that have a tunnel whose labels one of its ' +
        'backends chooses. An agent that serves it in several sessions counts once.',
      select: servingSelect,
      resolve: (endpoint, _, context) => countAgents(endpoint, context),
    }),
  }),
});

/** What edges serve is of no node. */
async function servedNow(context: Pick<Context, 'db'>) {
  return { OR: [...(await servedOnLiveNodes(context)), { nodeId: null }] };
}

/** The condition for the endpoints of the caller's account that answer now. */
export async function liveEndpoints(context: Context) {
  return { accountId: context.accountId, ...(await servedNow(context)) };
}

/** By these, older clients choose where others filter. */
const chosenArguments = builder.args((t) => ({
  ids: t.idList({ description: 'Give only those with one of these ids; the same as a filter by `id`.' }),
  urls: t.stringList({
    description:
      'Give only those with one of these URLs: a filter by `public_url`, or by the `url` of cloud endpoints.',
  }),
}));

/** A condition in CEL, and none for an argument that was not given. */
const isOneOf = (member: string, values: unknown) =>
  Array.isArray(values) && values.length > 0 ? [`${member} in ${JSON.stringify(values)}`] : [];

/** A cloud endpoint has the URL by which it was made, too. */
function hasOneOf(urls: unknown): string[] {
  const read = Array.isArray(urls) ? urls.flatMap((url) => readCloudUrl(String(url)) ?? []) : [];
  const isCloud = [...new Set(read.map(({ proto }) => proto))].flatMap((proto) => {
    const hostports = read.filter((url) => url.proto === proto).map(({ hostname, port }) => `${hostname}:${port}`);
    return isOneOf('obj.hostport', hostports).map(
      (isIt) => `obj.type == "cloud" && obj.proto == "${proto}" && ${isIt}`,
    );
  });
  return isOneOf('obj.public_url', urls).map((isIt) => `(${[isIt, ...isCloud].join(' || ')})`);
}

/** The 13 members of the specification (section 2.2). */
const membersWith = (type: string) =>
  `id region createdAt updatedAt publicUrl proto hostport ${type} metadata domain { id uri } tcpAddr { id uri } ` +
  'tunnel { id uri } edge { id uri }';

/** What clients written for the original service read beyond them. */
export const extendedSelection =
  `${membersWith('type')} uri url scheme host port description principal { id uri } bindings poolingEnabled trafficPolicy ` +
  'upstreamUrl upstreamProtocol name tunnelSession { id uri }';

const CREDENTIAL = [['tunnel', 'session', 'credential']];

/** Cloud endpoints alone are written through the API: only their writes are told of as such. */
export const endpointCollection = collection({
  kind: 'endpoint',
  prefix: 'ep',
  path: '/endpoints',
  single: 'endpoint',
  plural: 'endpoints',
  typeName: 'Endpoint',
  ref: Endpoint,
  members: {
    ...ID_MEMBER,
    created_at: time('createdAt'),
    updated_at: time('updatedAt', { isOrdered: false }),
    public_url: text('publicUrl', { isOrdered: true }),
    url: text('publicUrl'),
    proto: text('proto', { enumRef: EndpointProto }),
    hostport: text('hostport'),
    type: choice('type', EndpointType, ENDPOINT_TYPES),
    metadata: text('metadata'),
    region: text('region'),
    node_id: id('nodeId', { isNullable: true }),
    'domain.id': id('domainId', { isNullable: true }),
    'tcp_addr.id': id('addressId', { isNullable: true }),
    'tunnel.id': id('tunnelId', { isNullable: true }),
    'edge.id': id('edgeId', { isNullable: true }),
    name: text('name', { through: [['tunnel'], ['edge']], otherwise: '' }),
    description: text('description', { through: [['edge']], otherwise: '' }),
    upstream_url: text('forwardsTo', { through: [['tunnel']], otherwise: '' }),
    'tunnel_session.id': id('sessionId', { through: [['tunnel']], isNullable: true }),
    'agent.id': id('id', { through: [['tunnel', 'session', 'agent']], isNullable: true }),
    'credential.id': id('id', { through: CREDENTIAL, isNullable: true }),
    'principal.id': id('ownerId', { through: CREDENTIAL, isNullable: true }),
  },
  narrowing: {
    arguments: () => ({ ...chosenArguments }),
    filter: ({ ids, urls }) => [isOneOf('obj.id', ids), hasOneOf(urls)].flat().join(' && '),
  },
  table: (db) => db.endpoint,
  where: servedNow,
  audit: { ...cloudEndpoint.audit, selection: extendedSelection },
  search: {
    ...{
      rank: 10,
      table: 'endpoint',
      title: 't.public_url',
      detail: `coalesce(nullif(tunnel.forwards_to, ''), t.metadata)`,
    },
    join: 'LEFT JOIN tunnel ON tunnel.id = t.tunnel_id',
    where: `(t.node_id IS NULL OR ${SERVED_ON_LIVE_NODES})`,
    texts: ['t.public_url', 't.hostport', 't.metadata', 'tunnel.forwards_to'],
  },
});

export const routes = readRoutes(endpointCollection, 'endpoints', membersWith('type: documentedType'), {
  selection: extendedSelection,
  parameters: { id: 'ids', url: 'urls' },
});
