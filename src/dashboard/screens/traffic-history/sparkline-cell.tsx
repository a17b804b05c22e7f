// A cell that reads a signal, so that new figures do not render the whole row.

import type { ReadonlySignal } from '@preact/signals';
import { Sparkline } from '../../ui/charts/sparkline.tsx';
import { formatCount } from '../../ui/text/numbers.tsx';
import type { SparklinesById } from './use-sparklines.ts';

interface SparklineCellProps {
  id: string;
  sparklines: ReadonlySignal<SparklinesById>;
}

export function SparklineCell({ id, sparklines }: SparklineCellProps) {
  const sparkline = sparklines.value.get(id);
  if (!sparkline) return null;
  const { counts, errors } = sparkline;
  const [all, failed] = [sum(counts), sum(errors)];
  if (all === 0) return <span class="muted">none</span>;
  const label = `${formatCount(all)} in the last hour${failed > 0 ? `, ${formatCount(failed)} answered 5xx` : ''}`;
  return <Sparkline label={label} values={counts} bad={failed > 0 ? errors : undefined} />;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
