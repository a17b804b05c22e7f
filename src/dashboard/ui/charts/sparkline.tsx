import type { Values } from './series.ts';
import { barsPath, HEIGHT, linePath, WIDTH } from './sparkline-path.ts';

export interface SparklineProps {
  /** What it shows, for screen readers: `Requests of the last hour, 12 in all`. */
  label: string;
  values: Values;
  /** Marks the parts of the values that are bad: 5xx. */
  bad?: Values;
}

/** A small line of values over time, without axes. */
export function Sparkline({ label, values, bad }: SparklineProps) {
  const top = Math.max(1, ...values.map((value) => value ?? 0));
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <title>{label}</title>
      <path d={linePath(values, top)} />
      {bad && <path class="bad" d={barsPath(bad, top)} />}
    </svg>
  );
}
