// The paths of a sparkline in SVG.

import type { Values } from './series.ts';

export const WIDTH = 96;
export const HEIGHT = 20;

/** A line with a gap where a value is null. */
export function linePath(values: Values, top: number): string {
  let isDown = false;
  return values
    .map((value, at) => {
      if (value === null) {
        isDown = false;
        return '';
      }
      const command = isDown ? 'L' : 'M';
      isDown = true;
      return `${command}${x(at, values)} ${y(value, top)}`;
    })
    .join('');
}

/** A bar for each value above zero: told from the line by its form, too. */
export function barsPath(values: Values, top: number): string {
  return values
    .map((value, at) => (value ? `M${x(at, values)} ${HEIGHT - 1}V${Math.min(HEIGHT - 3, y(value, top))}` : ''))
    .join('');
}

function x(at: number, { length }: Values): number {
  return Math.round((at / Math.max(1, length - 1)) * (WIDTH - 2) * 10) / 10 + 1;
}

function y(value: number, top: number): number {
  return Math.round((HEIGHT - 1 - (value / top) * (HEIGHT - 2)) * 10) / 10;
}
