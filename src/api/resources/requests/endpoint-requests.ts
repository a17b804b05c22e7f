// The last requests to an endpoint, as a field of it: of all endpoints of an answer, the nodes are asked together.

import type { GatheredLog } from '../../../request-log/cluster-request-log.ts';
import { builder } from '../../builder/builder.ts';
import { checkReadScope } from '../../builder/root-fields.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import { pageArguments } from '../../collections/page.ts';
import type { Route } from '../../route.ts';
import { Endpoint } from '../tunnels/endpoints.ts';
import { type LogPart, RequestLogConnection, readLogPage } from './log-page.ts';

/** All nodes look for the requests of each endpoint. */
const WEIGHT = 20;

const requestsOf = batchLoad<GatheredLog, LogPart>(({ app, accountId }, endpointIds, { before, after, ...slice }) =>
  app.requestLog.readEach({ accountId, before, after }, endpointIds, slice),
);

builder.prismaObjectField(Endpoint, 'requests', (t) =>
  t.field({
    type: RequestLogConnection,
    weight: WEIGHT,
    args: pageArguments,
    description:
      'The last requests to it, the newest first, over all nodes of the gateway, as far as they are kept. ' +
      '`requestLog(endpointId: "…")` finds some of them.',
    resolve: ({ id }, args, context) => {
      checkReadScope(context, null); // As for the whole log.
      return readLogPage(
        args,
        async (part) => (await requestsOf(context, id, part)) ?? { entries: [], isPartial: null },
      );
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
