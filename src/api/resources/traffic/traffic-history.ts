// Histories of traffic: of endpoints, edges and routes, and of an account as a whole. In GraphQL only.

import type { TrafficSum } from '../../../store/traffic-stats/merge-rows.ts';
import { readTraffic, type TrafficRange } from '../../../store/traffic-stats/read-history.ts';
import { builder } from '../../builder/builder.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { HttpsEdgeRoute } from '../https-edge-routes.ts';
import { HttpsEdge } from '../https-edges.ts';
import { TcpEdge } from '../tcp-edges.ts';
import { TlsEdge } from '../tls-edges.ts';
import { Endpoint } from '../tunnels/endpoints.ts';
import { type RangeArguments, rangeOf, stepsOf } from './traffic-range.ts';
import { TrafficHistory, type TrafficHistoryValue, TrafficStep } from './traffic-types.ts';

/** The most points that the histories of one list may have together. */
const LIST_POINTS_MAX = 20_000;

const historyArguments = builder.args((t) => ({
  from: t.field({ type: 'Timestamp', description: 'When it begins; an hour before its end when left out.' }),
  to: t.field({ type: 'Timestamp', description: 'When it ends; now when left out.' }),
  step: t.field({
    type: TrafficStep,
    description:
      'How long the time of one point is. Left out, it suits the time: ten seconds up to a quarter of an hour, minutes up to 13 hours.',
  }),
}));

const stepsBySubject = batchLoad<ReadonlyMap<number, TrafficSum>, TrafficRange>((context, ids, range) => {
  const points = ids.length * stepsOf(range).length;
  if (points > LIST_POINTS_MAX)
    throw new ApiError('tooManyTrafficPoints', {
      max: LIST_POINTS_MAX,
      points,
      advice: 'ask for fewer objects, for a longer step, or for a shorter time',
    });
  return readTraffic(context.db, context.accountId, ids, range);
});

/** The history of something of the caller's account. @throws {ApiError} as `rangeOf` does. */
export async function historyOf(context: Context, id: string, args: RangeArguments): Promise<TrafficHistoryValue> {
  const range = rangeOf(context, args);
  return { range, steps: (await stepsBySubject(context, id, range)) ?? new Map() };
}

const description =
  'Its traffic over time, at most 1,000 points; of a list, at most 20,000 together. Figures of 10 seconds are kept for an ' +
  'hour, those of minutes for 24 hours, and those of hours for 30 days.';

builder.prismaObjectField(Endpoint, 'trafficHistory', (t) =>
  t.field({
    type: TrafficHistory,
    description: `${description} An agent that starts anew gets an endpoint of its own, whose history begins then.`,
    args: historyArguments,
    resolve: ({ id }, args, context) => historyOf(context, id, args),
  }),
);

for (const ref of [HttpsEdge, TlsEdge, TcpEdge] as const)
  builder.prismaObjectField(ref, 'trafficHistory', (t) =>
    t.field({
      type: TrafficHistory,
      description,
      args: historyArguments,
      resolve: ({ id }, args, context) => historyOf(context, id, args),
    }),
  );

builder.prismaObjectField(HttpsEdgeRoute, 'trafficHistory', (t) =>
  t.field({
    type: TrafficHistory,
    description: `${description} Requests that an edge turns away before they take a route are not among them.`,
    args: historyArguments,
    resolve: ({ id }, args, context) => historyOf(context, id, args),
  }),
);

builder.queryField('trafficHistory', (t) =>
  t.field({
    type: TrafficHistory,
    nullable: true,
    access: { kind: null },
    description:
      'The traffic of all endpoints of your account together over time, at most 1,000 points. Figures of 10 seconds are kept ' +
      'for an hour, those of minutes for 24 hours, and those of hours for 30 days.',
    args: historyArguments,
    resolve: (_, args, context) => historyOf(context, context.accountId, args),
  }),
);

export const routes: Route[] = [];
