// A chart of values over time, with a legend, a keyboard and a table behind it.

import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { ChartTable } from './chart-table.tsx';
import { Legend, valueText } from './legend.tsx';
import type { PlotProps } from './plot.tsx';
import type { ChartData } from './series.ts';
import { stepText, timeText } from './times.ts';

const HEIGHT = 180;

export interface ChartProps {
  title: string;
  /** Undefined while it is loading. */
  data: ChartData | undefined;
  /** A value as text, with its unit. It has to be a constant. */
  format: (value: number) => string;
  isStacked?: boolean;
  /** Called with a range that the user chose by dragging, in seconds since 1970. */
  onRange?: (from: number, to: number) => void;
}

export function Chart({ title, data, format, isStacked = false, onRange }: ChartProps) {
  const [isTable, setTable] = useState(false);
  const [chosen, setChosen] = useState<number | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const Plot = usePlot();
  const last = (data?.times.length ?? 0) - 1;
  const at = Math.min(pointed ?? chosen ?? lastKnown(data), last);
  const time = data?.times[at];

  function onKeyDown(event: KeyboardEvent) {
    const steps: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    const next = steps[event.key];
    if (next === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    setPointed(null);
    setChosen(Math.max(0, Math.min(last, next)));
  }

  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <span class="muted">
          {data &&
            (time === undefined
              ? `each ${stepText(data.stepSeconds)}`
              : `${timeText(time)}, ${stepText(data.stepSeconds)}`)}
        </span>
        <Button
          variant="plain"
          label={`${isTable ? 'Show as chart' : 'Show as table'}: ${title}`}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </figcaption>
      {data && isTable && <ChartTable label={title} data={data} format={format} />}
      {!isTable && (
        <div
          class="chart-area"
          role="slider"
          aria-label={`${title} over time`}
          aria-orientation="horizontal"
          aria-valuemin={0}
          aria-valuemax={Math.max(0, last)}
          aria-valuenow={Math.max(0, at)}
          aria-valuetext={data && time !== undefined ? spoken(data, at, format) : 'Nothing is known yet'}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onBlur={() => setChosen(null)}
          style={{ minHeight: `${HEIGHT}px` }}
        >
          {Plot && data && (
            <Plot
              data={data}
              format={format}
              isStacked={isStacked}
              height={HEIGHT}
              chosen={chosen}
              onPoint={setPointed}
              onRange={onRange}
            />
          )}
        </div>
      )}
      {data && !isTable && <Legend series={data.series} at={time === undefined ? null : at} format={format} />}
    </figure>
  );
}

/** The newest point of time of which something is known. */
function lastKnown(data: ChartData | undefined): number {
  if (!data) return 0;
  const { times, series } = data;
  const known = times.findLastIndex((_, at) => series.some(({ values }) => values[at] !== null));
  return known < 0 ? times.length - 1 : known;
}

/** The values at a point of time, for screen readers. */
function spoken({ times, series }: ChartData, at: number, format: (value: number) => string): string {
  const values = series.map(({ name, values }) => `${name} ${valueText(values[at], format)}`);
  return `${timeText(times[at] ?? 0)}: ${values.join(', ')}`;
}

let loaded: ComponentType<PlotProps> | undefined;

/** The component that draws; undefined until its code is loaded. */
function usePlot(): ComponentType<PlotProps> | undefined {
  const [, setLoaded] = useState(loaded !== undefined);
  useEffect(() => {
    // Without the code of the drawing there is still the table.
    if (!loaded)
      void import('./plot.tsx').then(
        ({ Plot }) => {
          loaded = Plot;
          setLoaded(true);
        },
        () => {},
      );
  }, []);
  return loaded;
}
