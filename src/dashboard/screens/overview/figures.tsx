// The traffic of the account over time, and the endpoints that stand out.

import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { useTimeRange } from '../../data/routing/time-range.ts';
import { AccountTrafficHistory, EndpointRanking, type RankedEndpointRowFragment } from '../../generated/operations.ts';
import { RangePicker } from '../../ui/charts/range-picker.tsx';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { Count, Milliseconds } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import type { ChartKind } from '../traffic-history/chart-data.ts';
import { HistoryCharts } from '../traffic-history/history-charts.tsx';
import { useRangeVariables } from '../traffic-history/use-range-variables.ts';

const CHARTS: readonly ChartKind[] = ['responses', 'duration'];
/** How often the rankings are asked for at most. */
const RANKING_MS = 60_000;

export function Figures() {
  const [range, setRange] = useTimeRange();
  const { from, to, step } = useRangeVariables(range);
  const history = useQuery(AccountTrafficHistory, { from, to, step }, { keepPreviousData: true });
  const ranked = useRangeVariables(range, RANKING_MS);
  // It costs the most, and is the last that is looked at.
  const options = { keepPreviousData: true, skip: history.isLoading };
  const { data: ranking } = useQuery(EndpointRanking, { from: ranked.from, to: ranked.to }, options);
  return (
    <>
      <Section title="Traffic" actions={<RangePicker range={range} onChange={setRange} />}>
        <HistoryCharts
          kinds={CHARTS}
          history={history.data?.trafficHistory ?? undefined}
          error={history.error}
          onRange={setRange}
        />
      </Section>
      {ranking && (
        <div class="rankings">
          <Ranking title="Most errors" columns={worstColumns} rows={ranking.worst ?? []} empty="No request failed." />
          <Ranking title="Slowest" columns={slowestColumns} rows={ranking.slowest ?? []} empty="No request came." />
        </div>
      )}
    </>
  );
}

type Row = RankedEndpointRowFragment;

interface RankingProps {
  title: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  empty: string;
}

function Ranking({ title, columns, rows, empty }: RankingProps) {
  return (
    <Section title={title}>
      <Table
        label={title}
        columns={columns}
        rows={rows}
        rowKey={({ endpoint }) => endpoint.id}
        href={({ endpoint }) => objectPath('endpoint', endpoint.id)}
        empty={<p class="muted">{empty}</p>}
      />
    </Section>
  );
}

const address: Column<Row> = {
  key: 'url',
  title: 'Address',
  width: '3fr',
  cell: ({ endpoint }) => <span title={endpoint.publicUrl}>{endpoint.publicUrl}</span>,
};
const requests: Column<Row> = {
  key: 'requests',
  title: 'Requests',
  width: '5rem',
  align: 'end',
  cell: ({ total }) => <Count value={total.requests} />,
};

const worstColumns: Column<Row>[] = [
  address,
  { key: 'state', title: 'State', width: '8.5rem', cell: stateCell },
  {
    key: 'errors',
    title: 'Errors',
    width: '4.5rem',
    align: 'end',
    cell: ({ total: { responses } }) => <Count value={responses.serverError + responses.none} />,
  },
  requests,
];

const slowestColumns: Column<Row>[] = [
  address,
  { key: 'p50', title: 'p50', width: '5rem', align: 'end', cell: ({ total }) => durationCell(total.duration?.p50) },
  { key: 'p95', title: 'p95', width: '5rem', align: 'end', cell: ({ total }) => durationCell(total.duration?.p95) },
  requests,
];

function stateCell({ endpoint: { health } }: Row) {
  if (health.state !== 'FAILING') return <span class="muted">not failing now</span>;
  return (
    <>
      <StatusDot state="failing" /> <RelativeTime at={health.since} as="since" />
    </>
  );
}

function durationCell(milliseconds: number | undefined) {
  return milliseconds === undefined ? <span class="muted">–</span> : <Milliseconds value={milliseconds} />;
}
