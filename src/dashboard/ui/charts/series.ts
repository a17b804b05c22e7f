// What a chart shows: series over the same times.

/** How a series is told apart without its colour: the pattern of its area, or the dashes of its line. */
export type Pattern = 'plain' | 'stripes' | 'cross' | 'dots' | 'rows' | 'columns';
export type Dash = 'solid' | 'dashed' | 'dotted';

/** A value for each time; null where nothing is known, which is a gap. */
export type Values = readonly (number | null)[];

export interface ChartSeries {
  name: string;
  /** The name of the custom property in `style/base.css` with its colour: `--chart-1`. */
  colour: string;
  /** For areas that are stacked. */
  pattern?: Pattern;
  /** For lines. */
  dash?: Dash;
  values: Values;
}

export interface ChartData {
  /** Seconds since 1970, ascending. */
  times: readonly number[];
  series: readonly ChartSeries[];
  /** How much time a value is for, in seconds. */
  stepSeconds: number;
  /** The range that the chart shows, in seconds since 1970. */
  from: number;
  to: number;
}

/** The upper edge of each area when they are stacked on one another: the first series is at the bottom. */
export function stacked(series: readonly ChartSeries[]): Values[] {
  const tops: Values[] = [];
  for (const { values } of series) {
    const below = tops.at(-1);
    tops.push(values.map((value, at) => (value === null ? null : value + (below?.[at] ?? 0))));
  }
  return tops;
}
