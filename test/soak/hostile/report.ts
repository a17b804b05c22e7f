// A phase as text: how long honest clients waited, beside the quiet figure, and what the gateway's memory did.

import type { Phase } from './round.ts';

const VISITS = new Set(['http', 'https', 'new connection', 'http2', 'upload']);

/** The 95th percentile of visits, as a multiple of the quiet one: the worst kind of visit. */
export function visitsRatio(phase: Phase, quiet: Phase): number {
  const ratios = [...phase.figures].flatMap(([kind, { p95 }]) =>
    VISITS.has(kind) ? p95 / (quiet.figures.get(kind)?.p95 ?? Number.NaN) : [],
  );
  return Math.max(...ratios);
}

/** The longest wait, as a multiple of the longest quiet one: the worst kind of client. */
export function longestRatio(phase: Phase, quiet: Phase): number {
  const ratios = [...phase.figures].map(
    ([kind, { longest }]) => longest / (quiet.figures.get(kind)?.longest ?? Number.NaN),
  );
  return Math.max(...ratios);
}

export function failedOf(phase: Phase): number {
  return [...phase.figures.values()].reduce((sum, { failed }) => sum + failed, 0);
}

export function describePhase(phase: Phase, quiet: Phase): string {
  const { before, most, after } = phase.memory;
  const rows = [...phase.figures].map(([kind, { count, failed, p50, p95, p99, longest }]) => {
    const cells = [p50, p95, p99, longest].map((ms) => ms.toFixed(1).padStart(8)).join('');
    return `  ${kind.padEnd(15)}${String(count).padStart(6)}${String(failed).padStart(7)}${cells}`;
  });
  const ratios =
    phase === quiet
      ? ''
      : `; p95 of visits ${visitsRatio(phase, quiet).toFixed(2)} ×, longest wait ${longestRatio(phase, quiet).toFixed(2)} × quiet`;
  const memory = [before, most, after].map((mb) => mb.toFixed(0)).join(' / ');
  const counts = Object.entries(phase.counts).map(([slug, found]) => `  ${slug} ${JSON.stringify(found)}`);
  return [
    `${phase.name}: memory ${memory} MB (before / most / after)${ratios}`,
    `  ${'ms'.padEnd(15)} count failed     p50     p95     p99 longest`,
    ...rows,
    ...counts,
    '',
  ].join('\n');
}
