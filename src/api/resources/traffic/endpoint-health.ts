// Whether endpoints fail, and how many do. In GraphQL only.

import { queryFromInfo } from '@pothos/plugin-prisma';
import { readHealth } from '../../../store/traffic-stats/endpoint-health.ts';
import { lastBuckets, recentFailures } from '../../../store/traffic-stats/read-history.ts';
import { builder } from '../../builder/builder.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import { checkSize, PAGE_SIZE_MAX } from '../../collections/page.ts';
import type { Route } from '../../route.ts';
import { EndpointState } from '../tunnels/any-endpoint.ts';
import { Endpoint, liveEndpoints } from '../tunnels/endpoints.ts';

interface Health {
  id: string;
  failing: boolean;
  since: Date;
}

const healthById = batchLoad<{ failing: boolean; since: Date }, object>((context, ids) =>
  readHealth(context.db, context.accountId, ids),
);

const recentById = batchLoad<{ requests: number; failures: number }, object>(({ app, db, accountId }, ids) =>
  recentFailures(db, accountId, ids, lastBuckets(app.now(), app.config.failingWindow)),
);

const EndpointHealth = builder.objectRef<Health>('EndpointHealth').implement({
  description:
    'Whether an endpoint fails. It does when at least `FAILING_SHARE` of at least `FAILING_MIN_REQUESTS` requests of the last ' +
    '`FAILING_WINDOW_MS` milliseconds were answered with a status 5xx, or not at all. It recovers when less than half of that share is, ' +
    'or when nobody has asked it for ten times as long. Connections of TCP and TLS do not count.',
  fields: (t) => ({
    state: t.field({
      type: EndpointState,
      description: 'How it stands.',
      resolve: ({ failing }) => (failing ? ('FAILING' as const) : ('LIVE' as const)),
    }),
    since: t.field({ type: 'Timestamp', description: 'Since when it stands so.', resolve: ({ since }) => since }),
    errorShare: t.float({
      nullable: true,
      description: 'The share of the last requests that failed, from 0 to 1; null without requests.',
      resolve: async ({ id }, _, context) => {
        const recent = await recentById(context, id, {});
        return recent && recent.requests > 0 ? recent.failures / recent.requests : null;
      },
    }),
    requests: t.float({
      description: 'How many requests that is the share of.',
      resolve: async ({ id }, _, context) => (await recentById(context, id, {}))?.requests ?? 0,
    }),
  }),
});

builder.prismaObjectField(Endpoint, 'health', (t) =>
  t.field({
    type: EndpointHealth,
    description: 'Whether it fails, and since when. When that changes, it is told as an update of the endpoint.',
    select: { createdAt: true },
    resolve: async ({ id, createdAt }, _, context) => {
      const known = await healthById(context, id, {});
      return known ? { id, ...known } : { id, failing: false, since: createdAt };
    },
  }),
);

builder.queryField('failingEndpoints', (t) =>
  t.field({
    type: [Endpoint],
    nullable: true,
    access: { kind: 'endpoint' },
    description: 'The endpoints of your account that fail now, those that began last before all.',
    deprecationReason: '`allEndpoints(where: { health: { eq: FAILING } })` has them in pages, in any order.',
    args: { first: t.arg.int({ defaultValue: PAGE_SIZE_MAX, description: 'How many to give, 1 to 100.' }) },
    resolve: async (_, { first }, context, info) => {
      const { db, accountId } = context;
      const count = checkSize('first', first ?? PAGE_SIZE_MAX);
      const failing = await db.endpointHealth.findMany({
        where: { accountId, failing: true },
        orderBy: [{ since: 'desc' }, { endpointId: 'desc' }],
        select: { endpointId: true },
      });
      const ids = failing.map(({ endpointId }) => endpointId);
      const rows = await db.endpoint.findMany({
        ...queryFromInfo({ context, info }),
        where: { ...(await liveEndpoints(context)), id: { in: ids } },
      });
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.flatMap((id) => byId.get(id) ?? []).slice(0, count);
    },
  }),
);

const EndpointCounts = builder
  .objectRef<{ live: number; failing: number; offline: number }>('EndpointCounts')
  .implement({
    description: 'How many endpoints of an account are in each state.',
    fields: (t) => ({
      live: t.exposeInt('live', { description: 'Endpoints that are online and do not fail.' }),
      failing: t.exposeInt('failing', { description: 'Endpoints that are online and fail.' }),
      offline: t.exposeInt('offline', { description: 'Offline endpoints, as `offlineEndpoints` lists them.' }),
    }),
  });

builder.queryField('endpointCounts', (t) =>
  t.field({
    type: EndpointCounts,
    nullable: true,
    access: { kind: 'endpoint' },
    description: 'How many endpoints of your account are live, failing and offline.',
    resolve: async (_, __, context) => {
      const { db, accountId } = context;
      const where = await liveEndpoints(context);
      const failing = await db.endpointHealth.findMany({
        where: { accountId, failing: true },
        select: { endpointId: true },
      });
      const ids = failing.map(({ endpointId }) => endpointId);
      const [online, failed, offline] = await Promise.all([
        db.endpoint.count({ where }),
        ids.length > 0 ? db.endpoint.count({ where: { ...where, id: { in: ids } } }) : 0,
        db.offlineEndpoint.count({ where: { accountId } }),
      ]);
      return { live: online - failed, failing: failed, offline };
    },
  }),
);

export const routes: Route[] = [];
