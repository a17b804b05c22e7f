import type { ChartSeries } from './series.ts';

export interface LegendProps {
  series: readonly ChartSeries[];
  /** The point of time whose values are shown. */
  at: number | null;
  format: (value: number) => string;
}

/** The names of the series with their marks, and their values at a point of time. */
export function Legend({ series, at, format }: LegendProps) {
  return (
    <ul class="chart-legend">
      {series.map(({ name, colour, pattern, dash = 'solid', values }) => (
        <li key={name}>
          <span
            class={pattern ? `chart-mark area ${pattern}` : `chart-mark line ${dash}`}
            style={{ color: `var(${colour})` }}
            aria-hidden="true"
          />
          {name}
          <span class="number">{at === null ? '' : valueText(values[at], format)}</span>
        </li>
      ))}
    </ul>
  );
}

/** A value, or that there is none. */
export function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}
