// What passes through endpoints, summed over all nodes. In GraphQL only.

import { builder } from '../../builder/builder.ts';
import { reference, typeOfKind } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import type { ShownTraffic as Traffic } from '../../dependencies.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';

const IDS_MAX = 100;

export const EndpointTraffic = builder.objectRef<Traffic>('EndpointTraffic').implement({
  description:
    'What passes through an endpoint, at all nodes of the gateway together. What traffic policies send on to another ' +
    'endpoint counts for the one that the visitor came to.',
  fields: (t) => ({
    endpointId: t.exposeID('endpointId', { description: 'The id of the endpoint.' }),
    endpoint: t.field({
      type: typeOfKind('endpoint'),
      nullable: true,
      description: 'The endpoint; null when it is gone by now.',
      resolve: reference(({ endpointId }) => endpointId),
    }),
    requests: t.exposeFloat('requests', {
      description: 'HTTP requests since each node serves it; connections, of TCP and TLS.',
    }),
    openConnections: t.exposeInt('openConnections', {
      description: 'Requests that are under way there, WebSockets among them; connections, of TCP and TLS.',
    }),
    requestsPerSecond: t.exposeFloat('requestsPerSecond', {
      description: 'Requests a second, over about the last ten seconds: what is longer ago weighs less and less.',
    }),
    bytesInPerSecond: t.exposeFloat('bytesInPerSecond', {
      description: 'Bytes a second that come from visitors, likewise; what TLS adds to them is not counted.',
    }),
    bytesOutPerSecond: t.exposeFloat('bytesOutPerSecond', {
      description: 'Bytes a second that go to visitors, likewise.',
    }),
    partial: t.exposeBoolean('isPartial', {
      nullable: true,
      description:
        'Whether a node of the gateway did not answer within a second: what passes there is missing. ' +
        'Null where the node that answers has no links to others, and tells of itself alone.',
    }),
  }),
});

/** What passes through an endpoint of the caller's account; null when no node serves it. */
export async function trafficOf({ app, accountId }: Context, id: string): Promise<Traffic | null> {
  const traffic = await app.traffic.endpointTraffic(id);
  return traffic?.accountId === accountId ? traffic : null;
}

builder.queryField('endpointTraffic', (t) =>
  t.field({
    type: [EndpointTraffic],
    nullable: true,
    access: { kind: 'endpoint' },
    description:
      'What passes through endpoints, in the order asked for, without a look into the database: it may be asked for every ' +
      'second. Those that are not yours, or that no node of the gateway serves that answers within a second, are left out.',
    args: { ids: t.arg.idList({ required: true, description: 'The ids of the endpoints; at most 100.' }) },
    resolve: async (_, { ids }, context) => {
      if (ids.length > IDS_MAX) throw new ApiError('tooManyIds', { member: 'ids', max: IDS_MAX });
      const traffic = await Promise.all(ids.map((id) => trafficOf(context, id)));
      return traffic.filter((each) => each !== null);
    },
  }),
);

export const routes: Route[] = [];
