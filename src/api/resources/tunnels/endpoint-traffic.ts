// What passes through endpoints, as the node that is asked sees it. In GraphQL only.

import type { EndpointTrafficSnapshot as Traffic } from '../../../tunnel/endpoints/endpoint-registry.ts';
import { builder } from '../../builder/builder.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';

const IDS_MAX = 100;

export const EndpointTraffic = builder.objectRef<Traffic>('EndpointTraffic').implement({
  description:
    'What passes through an endpoint, as this node of the gateway sees it. What traffic policies send on to another ' +
    'endpoint counts for the one that the visitor came to.',
  fields: (t) => ({
    endpointId: t.exposeID('endpointId', { description: 'The id of the endpoint.' }),
    requests: t.exposeFloat('requests', {
      description: 'HTTP requests since this node serves it; connections, of TCP and TLS.',
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
  }),
});

/** What passes through an endpoint of the caller's account; null when this node does not serve it. */
export function trafficOf({ app, accountId }: Context, id: string): Traffic | null {
  const traffic = app.traffic.endpointTraffic(id);
  return traffic?.accountId === accountId ? traffic : null;
}

builder.queryField('endpointTraffic', (t) =>
  t.field({
    type: [EndpointTraffic],
    nullable: true,
    description:
      'What passes through endpoints, in the order asked for, without a look into the database: it may be asked for every ' +
      'second. Those that are not yours, or that the node of the gateway that answers does not serve, are left out.',
    args: { ids: t.arg.idList({ required: true, description: 'The ids of the endpoints; at most 100.' }) },
    resolve: (_, { ids }, context) => {
      if (ids.length > IDS_MAX) throw new ApiError('tooManyIds', { member: 'ids', max: IDS_MAX });
      return ids.flatMap((id) => trafficOf(context, id) ?? []);
    },
  }),
);

export const routes: Route[] = [];
