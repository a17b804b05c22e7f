// The endpoints of an account with the most traffic, the most failures, and the slowest. In GraphQL only.

import { queryFromInfo } from '@pothos/plugin-prisma';
import type { TrafficSum } from '../../../store/traffic-stats/merge-rows.ts';
import {
  readTraffic,
  type TrafficOrder,
  type TrafficRange,
  topEndpoints,
} from '../../../store/traffic-stats/read-history.ts';
import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import { checkSize } from '../../collections/page.ts';
import type { Route } from '../../route.ts';
import { Endpoint } from '../tunnels/endpoints.ts';
import { rangeOf } from './traffic-range.ts';
import { TrafficPoint, totalOf } from './traffic-types.ts';

const FIRST_DEFAULT = 10;

const EndpointTrafficOrder = builder.enumType('EndpointTrafficOrder', {
  description: 'What endpoints are ranked by.',
  values: {
    REQUESTS: { value: 'requests', description: 'Those with the most requests first.' },
    ERRORS: {
      value: 'failures',
      description: 'Those with the most statuses 5xx and requests without a response first.',
    },
    SLOWEST: { value: 'slowest', description: 'Those whose requests take the longest on average first.' },
  } as const satisfies Record<string, { value: TrafficOrder; description: string }>,
});

interface Ranked {
  endpoint: { id: string };
  from: number;
  sum: TrafficSum;
}

/** Several rankings of the same time in one document are read together. */
const topByOrder = batchLoad<string[], { range: TrafficRange; count: number }>(
  ({ db, accountId }, orders, { range, count }) => topEndpoints(db, accountId, orders as TrafficOrder[], range, count), // The keys are arguments of this type.
);

const RankedEndpoint = builder.objectRef<Ranked>('RankedEndpoint').implement({
  description: 'An endpoint among those with the most of something.',
  fields: (t) => ({
    endpoint: t.field({ type: Endpoint, description: 'The endpoint.', resolve: ({ endpoint }) => endpoint as never }),
    total: t.field({
      type: TrafficPoint,
      description: 'Its traffic in the whole time.',
      resolve: ({ from, sum }) => ({ at: from, sum }),
    }),
  }),
});

builder.queryField('endpointsByTraffic', (t) =>
  t.field({
    type: [RankedEndpoint],
    nullable: true,
    access: { kind: 'endpoint' },
    weight: FEW_PER_DOCUMENT,
    description:
      'The endpoints of your account with the most of something in a time, the first before all. Endpoints without any are ' +
      'left out, and those that are offline by now.',
    args: {
      orderBy: t.arg({ type: EndpointTrafficOrder, required: true, description: 'What they are ranked by.' }),
      from: t.arg({ type: 'Timestamp', description: 'When the time begins; an hour before its end when left out.' }),
      to: t.arg({ type: 'Timestamp', description: 'When it ends; now when left out.' }),
      first: t.arg.int({ defaultValue: FIRST_DEFAULT, description: 'How many to give, 1 to 100.' }),
    },
    resolve: async (_, { orderBy, from, to, first }, context, info) => {
      const { db, accountId } = context;
      const count = checkSize('first', first ?? FIRST_DEFAULT);
      const range = rangeOf(context, { from, to });
      const ids = (await topByOrder(context, orderBy, { range, count })) ?? [];
      const query = queryFromInfo({ context, info, typeName: 'Endpoint', paths: [['endpoint']] });
      const [rows, traffic] = await Promise.all([
        db.endpoint.findMany({ ...query, where: { id: { in: ids }, accountId } }),
        readTraffic(db, accountId, ids, range),
      ]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.flatMap((id) => {
        const endpoint = byId.get(id);
        return endpoint ? { endpoint, from: range.from, sum: totalOf(traffic.get(id) ?? new Map()) } : [];
      });
    },
  }),
);

export const routes: Route[] = [];
