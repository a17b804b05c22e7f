// The colours of charts: canvases know no custom properties, so they are resolved for them.

import type { Pattern } from './series.ts';

const TILE = 8;

/** Draws one tile of a pattern on a ground of the same colour that shines through. */
const TILES: Record<Exclude<Pattern, 'plain'>, (context: CanvasRenderingContext2D) => void> = {
  stripes: (context) => strokeLines(context, [-2, 6, 6, -2], [-2, 14, 14, -2], [2, 10, 10, 2]),
  cross: (context) => strokeLines(context, [0, 8, 8, 0], [0, 0, 8, 8]),
  rows: (context) => strokeLines(context, [0, 4, 8, 4]),
  columns: (context) => strokeLines(context, [4, 0, 4, 8]),
  dots: (context) => {
    for (const [x, y] of [
      [2, 2],
      [6, 6],
    ] as const)
      context.fillRect(x - 1, y - 1, 2, 2);
  },
};

/** The present value of a colour: `--chart-1` in the theme that the element is shown in. */
export function resolveColour(element: HTMLElement, property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** The filling of an area. */
export function areaFill(colour: string, pattern: Pattern, pixelRatio: number): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = TILE * pixelRatio;
  tile.height = TILE * pixelRatio;
  const context = tile.getContext('2d');
  if (!context) return colour;
  context.scale(pixelRatio, pixelRatio);
  context.fillStyle = colour;
  context.strokeStyle = colour;
  context.globalAlpha = pattern === 'plain' ? 0.6 : 0.4;
  context.fillRect(0, 0, TILE, TILE);
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  if (pattern !== 'plain') TILES[pattern](context);
  return context.createPattern(tile, 'repeat') ?? colour;
}

/** Calls the listener when the theme changes. @returns a function that removes the listener. */
export function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', listener);
  return () => {
    observer.disconnect();
    system.removeEventListener('change', listener);
  };
}

type Line = readonly [x: number, y: number, toX: number, toY: number];

function strokeLines(context: CanvasRenderingContext2D, ...lines: readonly Line[]): void {
  for (const [x, y, toX, toY] of lines) {
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    context.stroke();
  }
}
