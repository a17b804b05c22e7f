// Endpoints that answer and those that went offline, as one list and one stream. In GraphQL only.

import type { EndpointParties } from '../../../store/events/endpoint-facts.ts';
import type { ObjectRowRef } from '../../builder/builder.ts';
import { collection } from '../../collections/collection.ts';
import { asStored, choice, ID_MEMBER, id, number, text, time } from '../../collections/members.ts';
import type { Route } from '../../route.ts';
import { AnyEndpoint, AnyEndpointState, EndpointProto, EndpointState } from './any-endpoint.ts';
import { ENDPOINT_TYPES, EndpointType, endpointCollection } from './endpoints.ts';
import { offlineEndpoints } from './offline-endpoints.ts';

const ordered = { isOrdered: true } as const;

collection({
  kind: 'anyEndpoint',
  prefix: '',
  scopeKind: endpointCollection.kind,
  kinds: [endpointCollection, offlineEndpoints],
  path: '/all_endpoints',
  single: 'anyEndpoint',
  plural: 'allEndpoints',
  typeName: 'AnyEndpoint',
  ref: AnyEndpoint as unknown as ObjectRowRef, // What lists do with the type of their rows they can do with an interface.
  members: {
    ...ID_MEMBER,
    state: choice('state', AnyEndpointState, asStored('ONLINE', 'OFFLINE'), ordered),
    since: time('since'),
    public_url: text('publicUrl', ordered),
    name: text('name', ordered),
    description: text('description', ordered),
    forwards_to: text('forwardsTo', ordered),
    type: choice('type', EndpointType, ENDPOINT_TYPES, ordered),
    health: choice('health', EndpointState, asStored('LIVE', 'FAILING'), { isNullable: true, ...ordered }),
    requests_last_day: number('requestsLastDay'),
    bytes_last_day: number('bytesLastDay'),
    'principal.id': id('principalId', { isNullable: true }),
    'principal.name': text('principalName', ordered),
    'agent.id': id('agentId', { isNullable: true }),
    'agent.name': text('agentName', ordered),
    'credential.id': id('credentialId', { isNullable: true }),
    'credential.description': text('credentialDescription', ordered),
    'edge.id': id('edgeId', { isNullable: true }),
    proto: text('proto', { enumRef: EndpointProto }),
    hostport: text('hostport'),
    metadata: text('metadata'),
  },
  order: 'since desc',
  shared: { agentId: true, credentialId: true, principalId: true } satisfies Record<keyof EndpointParties, true>,
  table: (db) => db.anyEndpoint,
  where: () => ({ isCurrent: true }),
});

export const routes: Route[] = [];
