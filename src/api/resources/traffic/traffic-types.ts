// The types of figures: a point in time, and what there was in a row of them.

import { addedDurations, quantileOf } from '../../../edge/metrics/duration-sketch.ts';
import { emptySum, type TrafficSum } from '../../../store/traffic-stats/merge-rows.ts';
import type { TrafficRange } from '../../../store/traffic-stats/read-history.ts';
import { builder } from '../../builder/builder.ts';
import { type StepName, stepName, stepsOf } from './traffic-range.ts';

/** Figures of a time that begins at `at`, in milliseconds since 1970. */
export interface TrafficPointValue {
  at: number;
  sum: TrafficSum;
}

export interface TrafficHistoryValue {
  range: TrafficRange;
  steps: ReadonlyMap<number, TrafficSum>;
}

export const TrafficStep = builder.enumType('TrafficStep', {
  description: 'How long the time of one point is.',
  values: {
    TEN_SECONDS: { description: 'Ten seconds; kept for an hour.' },
    MINUTE: { description: 'A minute; kept for 24 hours.' },
    HOUR: { description: 'An hour; kept for 30 days.' },
  } satisfies Record<StepName, { description: string }>,
});

const TrafficResponses = builder.objectRef<TrafficSum['responses']>('TrafficResponses').implement({
  description: 'Requests by the status of their response.',
  fields: (t) => ({
    informational: t.float({
      description: 'Statuses 1xx: WebSockets and other upgrades.',
      resolve: (counts) => counts[1],
    }),
    success: t.float({ description: 'Statuses 2xx.', resolve: (counts) => counts[2] }),
    redirection: t.float({ description: 'Statuses 3xx.', resolve: (counts) => counts[3] }),
    clientError: t.float({ description: 'Statuses 4xx.', resolve: (counts) => counts[4] }),
    serverError: t.float({
      description: 'Statuses 5xx, those among them that the gateway gives when the agent does not answer.',
      resolve: (counts) => counts[5],
    }),
    none: t.float({
      description:
        'Without a response: the visitor went before there was one, or a traffic policy closed the connection.',
      resolve: (counts) => counts[0],
    }),
  }),
});

type Sketches = readonly Uint8Array[];

const TrafficDurations = builder.objectRef<ReturnType<typeof addedDurations>>('TrafficDurations').implement({
  description:
    'How long things took, in milliseconds: half of them less than `p50`, all but a hundredth less than `p99`. Each is right to 1%.',
  fields: (t) => ({
    p50: t.float({ description: 'The median.', resolve: (durations) => quantileOf(durations, 0.5) }),
    p95: t.float({ description: 'The 95th percentile.', resolve: (durations) => quantileOf(durations, 0.95) }),
    p99: t.float({ description: 'The 99th percentile.', resolve: (durations) => quantileOf(durations, 0.99) }),
  }),
});

const durationsOf = (sketches: Sketches) => (sketches.length > 0 ? addedDurations(sketches) : null);

export const TrafficPoint = builder.objectRef<TrafficPointValue>('TrafficPoint').implement({
  description: 'What passed in a time, at all nodes of the gateway together.',
  fields: (t) => ({
    at: t.field({ type: 'Timestamp', description: 'When the time begins.', resolve: ({ at }) => new Date(at) }),
    requests: t.float({
      description: 'HTTP requests whose response began in this time, or that ended without one.',
      resolve: ({ sum }) => sum.responses.reduce((all, each) => all + each, 0),
    }),
    responses: t.field({
      type: TrafficResponses,
      description: 'The requests by the status of their response.',
      resolve: ({ sum }) => sum.responses,
    }),
    duration: t.field({
      type: TrafficDurations,
      nullable: true,
      description:
        'How long requests and connections took that ended in this time, upgraded ones not counted; null when none ended.',
      resolve: ({ sum }) => durationsOf(sum.durations),
    }),
    firstByte: t.field({
      type: TrafficDurations,
      nullable: true,
      description: 'How long it took from the head of a request to the head of its response; null without responses.',
      resolve: ({ sum }) => durationsOf(sum.firstBytes),
    }),
    bytesIn: t.float({
      description: 'Bytes that came from visitors; what TLS adds to them is not counted.',
      resolve: ({ sum }) => sum.bytesIn,
    }),
    bytesOut: t.float({ description: 'Bytes that went to visitors, likewise.', resolve: ({ sum }) => sum.bytesOut }),
    openConnections: t.float({
      description: 'The most requests and connections that were under way at the end of a ten seconds of this time.',
      resolve: ({ sum }) => sum.openConnections,
    }),
    connections: t.float({
      description: 'Connections of TCP and TLS that began in this time; requests of HTTP are not among them.',
      resolve: ({ sum }) => sum.connections,
    }),
  }),
});

export const TrafficHistory = builder.objectRef<TrafficHistoryValue>('TrafficHistory').implement({
  description: 'Traffic over a time. Where nothing was counted, the points are zero.',
  fields: (t) => ({
    step: t.field({
      type: TrafficStep,
      description: 'How long the time of one point is.',
      resolve: ({ range }) => stepName(range.step),
    }),
    from: t.field({
      type: 'Timestamp',
      description: 'When the first point begins.',
      resolve: ({ range }) => new Date(range.from),
    }),
    to: t.field({
      type: 'Timestamp',
      description: 'When the last point ends, which may not be over yet.',
      resolve: ({ range }) => new Date(range.to),
    }),
    points: t.field({
      type: [TrafficPoint],
      description: 'A point for each step, the earliest first. What was counted shows up to 15 seconds later.',
      resolve: ({ range, steps }) => stepsOf(range).map((at) => ({ at, sum: steps.get(at) ?? emptySum() })),
    }),
    total: t.field({
      type: TrafficPoint,
      description: 'The whole time as one point.',
      resolve: ({ range, steps }) => ({ at: range.from, sum: totalOf(steps) }),
    }),
  }),
});

/** All steps as one. */
export function totalOf(steps: ReadonlyMap<number, TrafficSum>): TrafficSum {
  const total = emptySum();
  for (const sum of steps.values()) {
    total.responses = total.responses.map(
      (count, digit) => count + (sum.responses[digit] ?? 0),
    ) as TrafficSum['responses'];
    for (const member of ['failures', 'connections', 'bytesIn', 'bytesOut', 'durationMs'] as const)
      total[member] += sum[member];
    total.openConnections = Math.max(total.openConnections, sum.openConnections);
    total.durations.push(...sum.durations);
    total.firstBytes.push(...sum.firstBytes);
  }
  return total;
}
