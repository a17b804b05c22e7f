// Offline endpoints: the addresses of agents that are served no longer, and why. In GraphQL only.

import type { EndpointParties } from '../../../store/events/endpoint-facts.ts';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, Node } from '../../collections/collection.ts';
import { viewRowOf } from '../../collections/loaded-page.ts';
import { ID_MEMBER, id, text, time } from '../../collections/members.ts';
import { mutation } from '../../collections/mutation.ts';
import { reference, typeOfKind } from '../../collections/references.ts';
import { requireFound } from '../../errors/errors.ts';
import { nounOf } from '../../naming.ts';
import type { Route } from '../../route.ts';
import { Owner } from '../accounts/owner.ts';
import { AnyEndpoint, EndpointProto, endpointProtoOf } from './any-endpoint.ts';
import { offlineDetails } from './offline-details.ts';

/** A resolver of one of those behind an endpoint. A list of all endpoints knows them with its rows. */
const party = (name: 'credentialId' | 'principalId') =>
  reference(async (endpoint: { id: string }, context) => {
    const parties = viewRowOf<EndpointParties>(endpoint) ?? (await offlineDetails(context, endpoint.id));
    return parties[name];
  });

export const OfflineEndpoint = builder.prismaObject('OfflineEndpoint', {
  description:
    'An address that an agent served until it went offline. It is there until an agent of the account serves the address ' +
    'again, somebody forgets it, or 30 days are over; of each account the newest 1,000 are kept.',
  interfaces: [Node, AnyEndpoint],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `oep_…`.' }),
    publicUrl: t.exposeString('publicUrl', { description: 'The URL it answered at.' }),
    proto: t.field({
      type: EndpointProto,
      description: 'What was spoken there: `HTTP`, `HTTPS`, `TCP` or `TLS`.',
      select: { proto: true },
      resolve: endpointProtoOf,
    }),
    hostport: t.exposeString('hostport', { description: 'The name and the port it answered at.' }),
    name: t.exposeString('name', { description: 'What its agent called it; "" for nothing.' }),
    metadata: t.exposeString('metadata', { description: 'The metadata of the tunnel that served it.' }),
    forwardsTo: t.exposeString('forwardsTo', { description: 'Where the agent sent what came, as the agent said.' }),
    onlineAt: t.expose('onlineAt', { type: 'Timestamp', description: 'When it began to answer the last time.' }),
    offlineAt: t.expose('offlineAt', { type: 'Timestamp', description: 'When it went offline.' }),
    since: t.expose('offlineAt', { type: 'Timestamp', description: 'When it went offline: its `offlineAt`.' }),
    reason: t.exposeString('reason', { description: 'Why, as in `the agent said good-bye`.' }),
    heldUntil: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'Until when the name is kept for agents with the same credential; null when it is not.',
      resolve: async ({ id }, _, context) => (await offlineDetails(context, id)).heldUntil,
    }),
    credential: t.field({
      type: typeOfKind('credential'),
      nullable: true,
      description: 'The credential of the agent; null when that has been deleted.',
      resolve: party('credentialId'),
    }),
    principal: t.field({
      type: Owner,
      nullable: true,
      description: 'The user or bot user that holds that credential; null when it has been deleted.',
      resolve: party('principalId'),
    }),
    agent: t.field({
      type: typeOfKind('agent'),
      nullable: true,
      description: 'The agent; null when it has been forgotten.',
      select: { agentId: true },
      resolve: reference(({ agentId }) => agentId),
    }),
    agentVersion: t.exposeString('agentVersion', { description: 'The version of the agent, as the agent said.' }),
    ip: t.exposeString('ip', { description: 'The address of the agent as the gateway saw it.' }),
    os: t.exposeString('os', { description: 'The operating system of the agent, as the agent said.' }),
  }),
});

export const offlineEndpoints = collection({
  kind: 'offlineEndpoint',
  prefix: 'oep',
  path: '/offline_endpoints',
  single: 'offlineEndpoint',
  plural: 'offlineEndpoints',
  typeName: 'OfflineEndpoint',
  ref: OfflineEndpoint,
  members: {
    ...ID_MEMBER,
    online_at: time('onlineAt', { isOrdered: false }),
    offline_at: time('offlineAt'),
    public_url: text('publicUrl', { isOrdered: true }),
    proto: text('proto', { enumRef: EndpointProto }),
    hostport: text('hostport'),
    name: text('name'),
    metadata: text('metadata'),
    forwards_to: text('forwardsTo'),
    credential_id: id('credentialId', { isNullable: true }),
    agent_version: text('agentVersion'),
    ip: text('ip'),
    os: text('os'),
    reason: text('reason'),
  },
  table: (db) => db.offlineEndpoint,
  search: {
    ...{ rank: 20, table: 'offline_endpoint', title: 't.public_url', detail: 't.reason' },
    texts: ['t.public_url', 't.hostport', 't.metadata', 't.forwards_to', 't.ip', 't.name'],
  },
});

mutation('forgetOfflineEndpoint', { gives: ['forgottenOfflineEndpointId', 'The id that it had.'] }, (t) =>
  t.id({
    nullable: true,
    access: { kind: 'offlineEndpoint' },
    description:
      'Takes an address that is offline from the list. It says nothing about who may serve the address. Answers with the ' +
      'id; fails with `NOT_FOUND` when your account has none.',
    args: { id: t.arg.id({ required: true, description: 'The id of the offline endpoint.' }) },
    resolve: async (_, { id }, context) => {
      const { accountId } = context;
      const { kind, prefix } = offlineEndpoints;
      const forgotten = await context.act(async (db, announce) => {
        const where = { id: isId(prefix, id) ? id : '', accountId };
        const found = await db.offlineEndpoint.findFirst({ where, select: { publicUrl: true } });
        const { count } = await db.offlineEndpoint.deleteMany({ where });
        if (!found || count === 0) return { result: false, acts: [] };
        announce({ kind, action: 'DELETED', id, accountId });
        const act = { action: 'OFFLINE_ENDPOINT_FORGOTTEN', kind, objectId: id, objectName: found.publicUrl } as const;
        return { result: true, acts: [act] };
      });
      return requireFound(forgotten ? id : null, nounOf(kind));
    },
  }),
);

export const routes: Route[] = [];
