// The drawing of a chart by uPlot. It is loaded when the first chart is shown.

import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { onThemeChange } from './colours.ts';
import { type PlotSettings, plotData, plotOptions } from './plot-options.ts';

export interface PlotProps extends PlotSettings {
  height: number;
  /** The point of time that the keyboard chose. */
  chosen: number | null;
}

export function Plot(props: PlotProps) {
  const { data, isStacked, height, chosen } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const names = data.series.map(({ name }) => name).join();

  // New values are drawn into the same plot; another theme or other series need a new one.
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    draw();
    const removeThemeListener = onThemeChange(draw);
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      removeThemeListener();
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };

    function draw(): void {
      if (!element) return;
      const { current } = latest;
      plot.current?.destroy();
      const settings = {
        ...current,
        onPoint: (index: number | null) => latest.current.onPoint(index),
        onRange: current.onRange && ((from: number, to: number) => latest.current.onRange?.(from, to)),
      };
      const size = { width: element.clientWidth, height };
      const rangeOf = (): [number, number] => [latest.current.data.from, latest.current.data.to];
      const options = plotOptions(element, settings, size, rangeOf);
      plot.current = new uPlot(options, plotData(current.data, isStacked), element);
    }
  }, [names, isStacked, height]);

  useEffect(() => {
    plot.current?.setData(plotData(data, isStacked));
  }, [data, isStacked]);

  useEffect(() => {
    const { current } = plot;
    const time = chosen === null ? undefined : data.times[chosen];
    if (current && time !== undefined) current.setCursor({ left: current.valToPos(time, 'x'), top: 0 }, false);
  }, [chosen, data]);

  return <div ref={place} class="chart-place" aria-hidden="true" />;
}
