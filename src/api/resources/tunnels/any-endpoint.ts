// What endpoints that answer and those that are offline have in common: what a row of a dashboard shows of either.

import type { Proto } from '../../../tunnel/endpoints/endpoint.ts';
import { builder, type ObjectRow } from '../../builder/builder.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import { Node, resourceOf } from '../../collections/nodes.ts';
import { typeOfKind } from '../../collections/references.ts';
import { inLowerCase } from '../../rest-words.ts';
import { Owner } from '../accounts/owner.ts';

export const AnyEndpointState = builder.enumType('AnyEndpointState', {
  description: 'Whether an endpoint answers.',
  values: {
    ONLINE: { description: 'It answers: an `Endpoint`.' },
    OFFLINE: { description: 'It did, until its agent went: an `OfflineEndpoint`.' },
  } as const,
});

export const EndpointState = builder.enumType('EndpointState', {
  description: 'How an endpoint that is online stands.',
  values: {
    LIVE: { description: 'It answers, or nobody has asked it lately.' },
    FAILING: { description: 'Too many of its last visits were answered with a status 5xx, or not at all.' },
  } as const,
});

export const EndpointProto = builder.enumType('EndpointProto', {
  description: 'What is spoken at an endpoint.',
  extensions: inLowerCase({ isText: true }),
  values: {
    HTTP: { value: 'http', description: 'HTTP without TLS.' },
    HTTPS: { value: 'https', description: 'HTTP over TLS, such as at a route of an HTTPS edge.' },
    TCP: { value: 'tcp', description: 'TCP, with a port of its own.' },
    TLS: { value: 'tls', description: 'TLS, such as at a TLS edge.' },
  } as const,
});

/** The column of a row: nothing else is ever stored. */
export const endpointProtoOf = ({ proto }: { proto: string }) => proto as Proto;

/** The members whose types are the same of both. */
export const anyEndpointHelp = {
  credential: 'The credential of its agent; null when an edge serves it, and when the credential has been deleted.',
  agent: 'The agent that serves it, or did; null when an edge serves it, and when the agent has been forgotten.',
  principal:
    'The user or bot user that holds the credential of its agent; null when an edge serves it, and when the credential has been deleted.',
} as const;

/** What passed through endpoints in the last 24 hours. */
const dayById = batchLoad(async ({ db, accountId }, ids, _how: object) => {
  const rows = await db.anyEndpoint.findMany({
    where: { accountId, id: { in: [...ids] } },
    select: { id: true, requestsLastDay: true, bytesLastDay: true },
  });
  return new Map(rows.map(({ id, ...day }) => [id, day]));
});

const dayHelp =
  'Of the last 24 hours, from a full hour on; what passes shows up to 7 minutes later. An agent that starts anew gets an endpoint of its ' +
  'own, whose figures begin then.';

export const AnyEndpoint = builder.interfaceRef<ObjectRow>('AnyEndpoint').implement({
  description:
    'A public address, whether it answers now or is offline. When it goes offline, and when it comes back, it is another object with ' +
    'another id: `publicUrl` stays.',
  interfaces: [Node],
  resolveType: ({ id }) => resourceOf(id)?.typeName,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ep_…` while it is online, `oep_…` while it is offline.' }),
    state: t.field({
      type: AnyEndpointState,
      description: 'Whether it answers now.',
      resolve: ({ id }) => (resourceOf(id)?.kind === 'endpoint' ? ('ONLINE' as const) : ('OFFLINE' as const)),
    }),
    since: t.field({ type: 'Timestamp', description: 'When it began to answer, or went offline.' }),
    publicUrl: t.string({ description: 'The URL that it answers at, or did.' }),
    proto: t.field({ type: EndpointProto, description: 'What is spoken there: `HTTP`, `HTTPS`, `TCP` or `TLS`.' }),
    hostport: t.string({ description: 'The name and the port that it answers at, or did.' }),
    name: t.string({ description: 'What its agent calls it, or whoever created the cloud endpoint; "" for nothing.' }),
    metadata: t.string({ description: 'The metadata of what serves it, or did.' }),
    forwardsTo: t.string({
      nullable: true,
      description: 'Where its agent sends what comes, or did, as the agent said; null when an edge serves it.',
    }),
    credential: t.field({ type: typeOfKind('credential'), nullable: true, description: anyEndpointHelp.credential }),
    agent: t.field({ type: typeOfKind('agent'), nullable: true, description: anyEndpointHelp.agent }),
    principal: t.field({ type: Owner, nullable: true, description: anyEndpointHelp.principal }),
    requestsLastDay: t.float({
      description: `HTTP requests; connections, of TCP and TLS. ${dayHelp}`,
      resolve: async ({ id }, _, context) => (await dayById(context, id, {}))?.requestsLastDay ?? 0,
    }),
    bytesLastDay: t.float({
      description: `Bytes from and to visitors; what TLS adds to them is not counted. ${dayHelp}`,
      resolve: async ({ id }, _, context) => (await dayById(context, id, {}))?.bytesLastDay ?? 0,
    }),
  }),
});
