// The values of a chart as a table: for those who do not see it, and to copy.

import { useMemo } from 'preact/hooks';
import { type Column, Table } from '../table/table.tsx';
import { valueText } from './legend.tsx';
import type { ChartData } from './series.ts';
import { timeText } from './times.ts';

export interface ChartTableProps {
  label: string;
  data: ChartData;
  format: (value: number) => string;
}

interface Row {
  time: number;
  values: (number | null | undefined)[];
}

export function ChartTable({ label, data: { times, series }, format }: ChartTableProps) {
  const names = series.map(({ name }) => name);
  const columns = useMemo(() => columnsOf(names, format), [names.join(), format]);
  // The newest first, as in every list.
  const rows = times.map((time, at) => ({ time, values: series.map(({ values }) => values[at]) })).reverse();
  return (
    <Table
      label={label}
      columns={columns}
      rows={rows}
      rowKey={({ time }) => String(time)}
      empty={<p class="muted">Nothing is known of this time.</p>}
    />
  );
}

function columnsOf(names: readonly string[], format: (value: number) => string): Column<Row>[] {
  const ofSeries = names.map(
    (name, at): Column<Row> => ({
      key: name,
      title: name,
      align: 'end',
      cell: ({ values }) => valueText(values[at], format),
    }),
  );
  return [{ key: 'time', title: 'From', width: '10rem', cell: ({ time }) => timeText(time) }, ...ofSeries];
}
