// The section of a detail page that shows traffic over time.

import { useState } from 'preact/hooks';
import type { Operation } from '../../data/client/operation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { useTimeRange } from '../../data/routing/time-range.ts';
import type { TrafficHistoryFactsFragment } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { RangePicker } from '../../ui/charts/range-picker.tsx';
import { Section } from '../../ui/layout/page.tsx';
import type { ChartKind } from './chart-data.ts';
import { HistoryCharts } from './history-charts.tsx';
import { type RangeVariables, useRangeVariables } from './use-range-variables.ts';

/** The first charts say whether something is wrong; the others are shown on demand. */
const MAIN_CHARTS = 2;
const OF_HTTP: readonly ChartKind[] = ['responses', 'duration', 'firstByte', 'bytes', 'open'];
const OF_CONNECTIONS: readonly ChartKind[] = ['connections', 'duration', 'bytes', 'open'];

interface Subject {
  createdAt: string;
  trafficHistory: TrafficHistoryFactsFragment;
}

export interface HistorySectionProps<Result, Ids> {
  /** The query for the object and its history. */
  operation: Operation<Result, Ids & Partial<RangeVariables>>;
  ids: Ids;
  pick: (result: Result) => Subject | null | undefined;
  isHttp: boolean;
}

export function HistorySection<Result, Ids extends object>({
  operation,
  ids,
  pick,
  isHttp,
}: HistorySectionProps<Result, Ids>) {
  const [range, setRange] = useTimeRange();
  const variables = useRangeVariables(range);
  const { data, error } = useQuery(operation, { ...ids, ...variables }, { keepPreviousData: true });
  const subject = data && pick(data);
  const [isAll, setAll] = useState(false);
  const kinds = isHttp ? OF_HTTP : OF_CONNECTIONS;
  return (
    <Section title="Traffic over time" actions={<RangePicker range={range} onChange={setRange} />}>
      <HistoryCharts
        kinds={isAll ? kinds : kinds.slice(0, MAIN_CHARTS)}
        history={subject?.trafficHistory}
        error={error}
        since={subject?.createdAt}
        onRange={setRange}
      />
      <div>
        <Button onClick={() => setAll(!isAll)}>{isAll ? 'Fewer charts' : 'Bytes and more charts'}</Button>
      </div>
    </Section>
  );
}
