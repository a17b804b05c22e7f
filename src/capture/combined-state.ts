// The state of a capture, of what each node says of it.

import type { CaptureState } from './captures.ts';

/** As a node tells it to another. */
export type NodeCaptureState = Omit<CaptureState, 'redacted'> & { redacted: string[] };

/**
 * On, where any is; with the sums of what is stored; of what is set, what the longest one has. Since when, the node says that
 * began last: what came to it before is not among the sums.
 */
export function combinedState(states: readonly NodeCaptureState[]): CaptureState {
  const [first, ...others] = states as [NodeCaptureState, ...NodeCaptureState[]];
  const longest = others.reduce((best, each) => (each.endsAt > best.endsAt ? each : best), first);
  const total = (count: 'kept' | 'keptBytes' | 'passed' | 'forgotten') =>
    states.reduce((all, each) => all + each[count], 0);
  return {
    ...longest,
    isOn: states.some(({ isOn }) => isOn),
    since: Math.max(...states.map(({ since }) => since)),
    redacted: new Set(states.flatMap(({ redacted }) => redacted)),
    kept: total('kept'),
    keptBytes: total('keptBytes'),
    passed: total('passed'),
    forgotten: total('forgotten'),
  };
}
