// The counters of delivery on this node. They are plain numbers, which the metrics and the status page read.

import { type SinkName, sinkNames } from '../sinks/index.ts';
import type { FailureKind } from '../sinks/sink.ts';

/** By kind of target. */
type ByKind<T> = Record<SinkName, T>;

export interface DeliveryCounters {
  /** Events that targets accepted. */
  delivered: ByKind<number>;
  /** Events that targets rejected without saying which ones. */
  rejected: ByKind<number>;
  /** Events that became dead letters. */
  dead: ByKind<number>;
  requests: ByKind<number>;
  /** Requests, and attempts to open a sink, that failed. */
  failures: ByKind<Record<FailureKind, number>>;
  /** The age of the event that was delivered last, in milliseconds. Undefined before the first delivery. */
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
