// The charts of one history.

import { useMemo } from 'preact/hooks';
import type { ApiFailure } from '../../data/client/client.ts';
import { now } from '../../data/clock.ts';
import type { TimeRange } from '../../data/routing/time-range.ts';
import type { TrafficHistoryFactsFragment } from '../../generated/operations.ts';
import { Chart } from '../../ui/charts/chart.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { formatBytes, formatCount, formatMilliseconds } from '../../ui/text/numbers.tsx';
import { type ChartKind, chartData } from './chart-data.ts';

const CHARTS: Record<ChartKind, { title: string; format: (value: number) => string; isStacked?: boolean }> = {
  responses: { title: 'Requests by status', format: formatCount, isStacked: true },
  connections: { title: 'New connections', format: formatCount, isStacked: true },
  duration: { title: 'Duration', format: formatMilliseconds },
  firstByte: { title: 'Time to first byte', format: formatMilliseconds },
  bytes: { title: 'Bytes', format: formatBytes },
  open: { title: 'Open connections', format: formatCount },
};

export interface HistoryChartsProps {
  kinds: readonly ChartKind[];
  /** Undefined while it is loading. */
  history: TrafficHistoryFactsFragment | undefined;
  error?: ApiFailure | undefined;
  /** When the object was created; undefined for the account. */
  since?: string | undefined;
  onRange: (range: TimeRange) => void;
}

export function HistoryCharts({ kinds, history, error, since, onRange }: HistoryChartsProps) {
  const data = useMemo(
    () => kinds.map((kind) => history && chartData(kind, history, { since, now: now.peek() })),
    [kinds.join(), history, since],
  );
  if (error && !history) return <ErrorNote error={error} />;
  return (
    <div class="charts">
      {kinds.map((kind, at) => (
        <Chart
          key={kind}
          {...CHARTS[kind]}
          data={data[at]}
          onRange={(from, to) => onRange({ from: from * 1000, to: to * 1000 })}
        />
      ))}
    </div>
  );
}
