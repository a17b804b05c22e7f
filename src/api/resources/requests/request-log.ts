// The request log: read page by page, and watched.

import type { LogEntry } from '../../../request-log/log-entry.ts';
import { LOG_PREFIX } from '../../../request-log/log-entry.ts';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { type ConnectionPage, PageInfo, readPage } from '../../collections/page.ts';
import { whileAllowed } from '../../collections/watching.ts';
import { requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { resetResponseBudget } from '../capture/response-budget.ts';
import { logFilterArguments, logQueryOf } from './log-filter.ts';
import { LoggedRequestType } from './logged-request-type.ts';
import { watchLog } from './watch-log.ts';

const RequestLogConnection = builder
  .objectRef<ConnectionPage & { isPartial: boolean | null }>('RequestLogConnection')
  .implement({
    description: 'A page of the request log, the newest first.',
    fields: (t) => ({
      nodes: t.field({
        type: [LoggedRequestType],
        description: 'The requests of this page.',
        resolve: ({ rows }) => rows as LogEntry[], // As the only one who makes such a page puts them there.
      }),
      partial: t.exposeBoolean('isPartial', {
        nullable: true,
        description:
          'Whether a node of the gateway did not answer within a second: what it has is missing. Null where the node that ' +
          'answers has no links to others, and tells of itself alone.',
      }),
      pageInfo: t.field({ type: PageInfo, description: 'Where this page lies in the list.', resolve: (page) => page }),
    }),
  });

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
      first: t.arg.int({ description: 'How many to give, 1 to 100; 100 when left out.' }),
      after: t.arg.string({ description: 'Give those older than this id.' }),
    },
    resolve: async (_, { first, after, ...filter }, context) => {
      const query = await logQueryOf(context, filter);
      let isPartial: boolean | null = null;
      const find = async (before: string | undefined, take: number) => {
        const gathered = await context.app.requestLog.newest({ ...query, before: before ?? null }, take);
        isPartial = gathered.isPartial;
        return [...gathered.entries];
      };
      const page = await readPage(
        { first: first ?? null, after: after ?? null },
        { prefix: LOG_PREFIX, path: '' },
        ({ where, take }) => find(where.id?.lt, take),
        async () => 0, // Nobody asks for it.
      );
      return { ...page, isPartial };
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
