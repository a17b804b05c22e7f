// The figures of an endpoint, an edge, a route or an account as series of charts.

import type {
  TrafficHistoryFactsFragment,
  TrafficPointFactsFragment,
  TrafficStep,
} from '../../generated/operations.ts';
import type { ChartData, ChartSeries } from '../../ui/charts/series.ts';

type Point = TrafficPointFactsFragment;

interface SeriesKind extends Omit<ChartSeries, 'values'> {
  read: (point: Point) => number | null | undefined;
}

const STEP_SECONDS: Record<TrafficStep, number> = { TEN_SECONDS: 10, MINUTE: 60, HOUR: 3600 };
/** What was counted shows up so much later. */
const LATE_MS = 15_000;

const PERCENTILES = [
  { name: 'p50', colour: '--chart-1', dash: 'solid' },
  { name: 'p95', colour: '--chart-3', dash: 'dashed' },
  { name: 'p99', colour: '--chart-4', dash: 'dotted' },
] as const;

/** From the bottom to the top: what went wrong is on the ground line, where its amount can be seen. */
const RESPONSES: readonly SeriesKind[] = [
  { name: '5xx', colour: '--chart-4', pattern: 'stripes', read: ({ responses }) => responses.serverError },
  { name: 'no response', colour: '--chart-5', pattern: 'cross', read: ({ responses }) => responses.none },
  { name: '4xx', colour: '--chart-3', pattern: 'dots', read: ({ responses }) => responses.clientError },
  { name: '3xx', colour: '--chart-2', pattern: 'rows', read: ({ responses }) => responses.redirection },
  { name: '2xx', colour: '--chart-1', pattern: 'plain', read: ({ responses }) => responses.success },
  { name: '1xx', colour: '--chart-6', pattern: 'columns', read: ({ responses }) => responses.informational },
];

const KINDS = {
  responses: RESPONSES,
  connections: [{ name: 'connections', colour: '--chart-1', pattern: 'plain', read: (point) => point.connections }],
  duration: PERCENTILES.map((mark) => ({ ...mark, read: ({ duration }) => duration?.[mark.name] })),
  firstByte: PERCENTILES.map((mark) => ({ ...mark, read: ({ firstByte }) => firstByte?.[mark.name] })),
  bytes: [
    { name: 'from visitors', colour: '--chart-3', dash: 'dashed', read: (point) => point.bytesIn },
    { name: 'to visitors', colour: '--chart-1', dash: 'solid', read: (point) => point.bytesOut },
  ],
  open: [{ name: 'open', colour: '--chart-1', dash: 'solid', read: (point) => point.openConnections }],
} satisfies Record<string, readonly SeriesKind[]>;

export type ChartKind = keyof typeof KINDS;

/**
 * A chart of a history. Nothing is known of the time before the object was there, and of the last seconds.
 * @param since when the object was created.
 */
export function chartData(
  kind: ChartKind,
  history: TrafficHistoryFactsFragment,
  { since, now }: { since: string | undefined; now: number },
): ChartData {
  const stepSeconds = STEP_SECONDS[history.step];
  const from = Date.parse(history.from) / 1000;
  const begin = since === undefined ? 0 : Date.parse(since) / 1000 - stepSeconds;
  const end = (now - LATE_MS) / 1000 - (history.step === 'TEN_SECONDS' ? stepSeconds : 0);
  const points = history.points.map((point, at) => {
    const time = from + at * stepSeconds;
    return time >= begin && time <= end ? point : undefined;
  });
  const series = KINDS[kind].map(
    ({ read, ...mark }: SeriesKind): ChartSeries => ({
      ...mark,
      values: points.map((point) => (point === undefined ? null : (read(point) ?? null))),
    }),
  );
  return {
    times: points.map((_, at) => from + at * stepSeconds),
    series: series.filter(isWorthShowing),
    stepSeconds,
    from,
    to: Date.parse(history.to) / 1000,
  };
}

/** Responses 1xx are rare. */
function isWorthShowing({ name, values }: ChartSeries): boolean {
  return name !== '1xx' || values.some((value) => value !== null && value > 0);
}
