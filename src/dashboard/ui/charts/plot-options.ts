// The settings of uPlot for a chart.

import uPlot from 'uplot';
import { areaFill, resolveColour } from './colours.ts';
import { type ChartData, type ChartSeries, type Dash, stacked } from './series.ts';
import { timeLabels } from './times.ts';

const DASHES: Record<Dash, number[]> = { solid: [], dashed: [8, 4], dotted: [2, 3] };
const AXIS_FONT = '12px system-ui, sans-serif';
/** The value axis shows this much at least, so that a line of zeros is at the bottom, and counts have whole numbers. */
const MIN_TOP = 4;

export interface PlotSettings {
  data: ChartData;
  isStacked: boolean;
  format: (value: number) => string;
  /** The point of time that the pointer is at; null when it left. */
  onPoint: (index: number | null) => void;
  /** The user has chosen a range by dragging. */
  onRange: ((from: number, to: number) => void) | undefined;
}

export interface PlotSize {
  width: number;
  height: number;
}

/**
 * The options, with colours of the present theme.
 * @param rangeOf the range that is shown now, in seconds since 1970.
 */
export function plotOptions(
  element: HTMLElement,
  settings: PlotSettings,
  size: PlotSize,
  rangeOf: () => [number, number],
): uPlot.Options {
  const { data, isStacked, format, onPoint, onRange } = settings;
  const colour = (property: string) => resolveColour(element, property);
  const axis = { stroke: colour('--quiet'), font: AXIS_FONT, grid: { stroke: colour('--line'), width: 1 } };
  return {
    ...size,
    // The last label of the time axis needs room.
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: onRange !== undefined, y: false, setScale: false }, points: { show: !isStacked } },
    scales: {
      x: { range: () => rangeOf() },
      y: { range: (_plot, _min, max) => [0, Math.max(MIN_TOP, (max ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        ticks: axis.grid,
        space: 70,
        values: (_plot, seconds, _axis, _space, step) => timeLabels(seconds, step),
      },
      { ...axis, ticks: { show: false }, size: 64, values: (_plot, values) => values.map(format) },
    ],
    series: [{}, ...data.series.map((series) => seriesOptions(series, colour(series.colour), isStacked))],
    bands: isStacked ? bandsOf(data.series, colour) : [],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width > 0) onRange?.(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
        },
      ],
    },
  };
}

/** The values as uPlot takes them. */
export function plotData({ times, series }: ChartData, isStacked: boolean): uPlot.AlignedData {
  const values = isStacked ? stacked(series) : series.map((one) => one.values);
  return [times, ...values] as unknown as uPlot.AlignedData;
}

function seriesOptions({ name, dash = 'solid', pattern }: ChartSeries, colour: string, isStacked: boolean) {
  return {
    label: name,
    stroke: colour,
    // The line of an area without any height would hide the area below it.
    width: isStacked ? 0 : 1.5,
    dash: DASHES[dash],
    // Between gaps a line has no length, so that a point stands for it.
    points: isStacked ? { show: false } : { show: true, size: 5, filter: lonePoints },
    paths: uPlot.paths.stepped?.({ align: 1 }),
    // The lowest area reaches down to zero; the others are bands.
    ...(isStacked && pattern && { fill: areaFill(colour, pattern, uPlot.pxRatio) as string }),
  } satisfies uPlot.Series;
}

/** The places of values without a neighbour. */
function lonePoints(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  return [...values.keys()].filter((at) => values[at] != null && values[at - 1] == null && values[at + 1] == null);
}

function bandsOf(series: readonly ChartSeries[], colour: (property: string) => string): uPlot.Band[] {
  return series.slice(1).map((upper, at) => ({
    series: [at + 2, at + 1],
    fill: areaFill(colour(upper.colour), upper.pattern ?? 'plain', uPlot.pxRatio) as string,
  }));
}
