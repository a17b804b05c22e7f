// What endpoints that answer and those that are offline have in common: what a row of a dashboard shows of either.

import { builder, type ObjectRow } from '../../builder/builder.ts';
import { Node, resourceOf } from '../../collections/nodes.ts';
import { typeOfKind } from '../../collections/references.ts';
import { Owner } from '../accounts/owner.ts';

const AnyEndpointState = builder.enumType('AnyEndpointState', {
  description: 'Whether an endpoint answers.',
  values: {
    ONLINE: { description: 'It answers: an `Endpoint`.' },
    OFFLINE: { description: 'It did, until its agent went: an `OfflineEndpoint`.' },
  } as const,
});

/** The members whose types are the same of both. */
export const anyEndpointHelp = {
  credential: 'The credential of its agent; null when an edge serves it, and when the credential has been deleted.',
  agent: 'The agent that serves it, or did; null when an edge serves it, and when the agent has been forgotten.',
  principal:
    'The user or bot user that holds the credential of its agent; null when an edge serves it, and when the credential has been deleted.',
} as const;

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
    proto: t.string({ description: 'What is spoken there: `http`, `https`, `tcp` or `tls`.' }),
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
  }),
});
