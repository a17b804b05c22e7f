// What delivery counts on this node: plain numbers, for whoever shows them.

import { type SinkName, sinkNames } from '../sinks/index.ts';
import type { FailureKind } from '../sinks/sink.ts';

/** By kind of target. */
type ByKind<T> = Record<SinkName, T>;

export interface DeliveryCounters {
  /** Events that targets took. */
  delivered: ByKind<number>;
  /** Events that targets refused without saying which. */
  rejected: ByKind<number>;
  /** Events that were given up for good. */
  dead: ByKind<number>;
  requests: ByKind<number>;
  /** Requests, and attempts to open a sink, that failed. */
  failures: ByKind<Record<FailureKind, number>>;
  /** How old the event was that was delivered last; milliseconds. Undefined before the first. */
  lagMs: number | undefined;
}

export function newDeliveryCounters(): DeliveryCounters {
  return {
    delivered: byKind(() => 0),
    rejected: byKind(() => 0),
    dead: byKind(() => 0),
    requests: byKind(() => 0),
    failures: byKind(() => ({ retry: 0, split: 0, config: 0 })),
    lagMs: undefined,
  };
}

function byKind<T>(make: () => T): ByKind<T> {
  return Object.fromEntries(sinkNames.map((kind) => [kind, make()])) as ByKind<T>;
}
