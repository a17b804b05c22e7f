// The request log: read page by page, of all endpoints or of each that an answer has, and watched.

import type { GatheredLog } from '../../../request-log/cluster-request-log.ts';
import { LOG_PREFIX } from '../../../request-log/log-entry.ts';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { checkReadScope } from '../../builder/root-fields.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import { pageArguments } from '../../collections/page.ts';
import { whileAllowed } from '../../collections/watching.ts';
import { requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { resetResponseBudget } from '../capture/response-budget.ts';
import { Endpoint } from '../tunnels/endpoints.ts';
import { logFilterArguments, logQueryOf } from './log-filter.ts';
import { type LogPart, RequestLogConnection, readLogPage } from './log-page.ts';
import { LoggedRequestType } from './logged-request-type.ts';
import { watchLog } from './watch-log.ts';

builder.queryField('requestLog', (t) =>
  t.field({
    type: RequestLogConnection,
    nullable: true,
    access: { kind: null },
    weight: FEW_PER_DOCUMENT,
    description:
      'The last requests to the endpoints of your account, the newest first, over all nodes of the gateway: about 5000 of ' +
      'each endpoint at each node, of the last 24 hours, as far as the memory that accounts share allows (`REQUEST_LOG_MB`). ' +
      'What no endpoint served is not logged.',
    args: {
      ...logFilterArguments,
      ...pageArguments,
    },
    resolve: async (_, { first, after, last, before, ...filter }, context) => {
      const query = await logQueryOf(context, filter);
      return readLogPage({ first, after, last, before }, ({ before, after, ...slice }) =>
        context.app.requestLog.read({ ...query, before, after }, slice),
      );
    },
  }),
);

/** Of `Endpoint.requests`: all nodes look for the requests of each endpoint. */
const OF_ENDPOINT = 20;

const requestsOf = batchLoad<GatheredLog, LogPart>(({ app, accountId }, endpointIds, { before, after, ...slice }) =>
  app.requestLog.readEach({ accountId, before, after }, endpointIds, slice),
);

builder.prismaObjectField(Endpoint, 'requests', (t) =>
  t.field({
    type: RequestLogConnection,
    weight: OF_ENDPOINT,
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

builder.queryField('loggedRequest', (t) =>
  t.field({
    type: LoggedRequestType,
    nullable: true,
    access: { kind: null },
    description:
      'The logged request with this id. Fails with `NOT_FOUND` when your account has none, or it is forgotten.',
    args: { id: t.arg.id({ required: true, description: 'The id of the request: `rq_…`.' }) },
    resolve: async (_, { id }, { accountId, app }) => {
      const found = isId(LOG_PREFIX, id) ? (await app.requestLog.newest({ accountId, id }, 1)).entries : [];
      return requireFound(found[0], 'logged request');
    },
  }),
);

builder.subscriptionField('requestsLogged', (t) =>
  t.field({
    type: [LoggedRequestType],
    access: { kind: null },
    description:
      'Tells of requests once they are over, at any node: every second of those that are new, the oldest first. Of more than ' +
      '100 in a second the oldest are left out.',
    args: logFilterArguments,
    subscribe: async (_, filter, context) => {
      const query = await logQueryOf(context, filter);
      const { requestLog, now: clock } = context.app;
      const since = clock();
      return whileAllowed(context, (signal) => watchLog(requestLog, query, { clock, since }, signal));
    },
    resolve: (entries, _, context) => {
      resetResponseBudget(context);
      return entries;
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
