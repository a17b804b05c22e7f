// Collects garbage when the process becomes idle after a peak. V8 collects only when it needs room, so an idle process
// would otherwise keep the memory of its busiest hour for ever.

import { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';

/** Time between two checks, in milliseconds. */
const CHECK_INTERVAL_MS = 5000;
/** The process is idle when its event loop was busy for less than this share of the time, for two checks in a row. */
const IDLE_UTILIZATION_MAX = 0.05;
const IDLE_CHECKS = 2;
/** Growth since the last collection that makes another one worth its pause, in bytes. V8 lets less garbage than this pile up while little is going on. */
const WORTHWHILE_BYTES = 64 * 1024 * 1024;

/** A baseline that any process has grown from: even a small one keeps 16 MB of room for young objects, which a collection gives back. */
export const AFTER_START = Number.NEGATIVE_INFINITY;

/** Measures a process and collects its garbage. */
export interface MemoryProbe {
  /** @returns the size of the heap and of the buffers that belong to it, in bytes. */
  usedBytes(): number;
  /** @returns the share of the time since the last call for which the event loop was busy, 0 to 1. */
  utilization(): number;
  /** Collects garbage, which stops the process for some hundred milliseconds. */
  collect(): Promise<void>;
  /** Calls `work` at an interval of `ms` milliseconds. @returns a function that ends it. */
  every(ms: number, work: () => Promise<void>): () => void;
}

/**
 * Collects garbage when the process is idle and has grown by 64 MB since the last collection. That happens within 15 s
 * after a peak, and does not repeat for memory that is still in use.
 * @param baselineBytes what counts as used before the first check; `AFTER_START` has the first idle check collect what a start
 * left behind, however little it is.
 * @param worthwhileBytes the growth in place of 64 MB.
 * @returns a function that stops the checks.
 */
export function collectWhenIdle(
  probe: MemoryProbe = thisProcess(),
  baselineBytes = probe.usedBytes(),
  worthwhileBytes = WORTHWHILE_BYTES,
): () => void {
  let lowest = baselineBytes;
  let idleChecks = 0;
  let isCollecting = false;
  const check = async () => {
    if (isCollecting) return;
    idleChecks = probe.utilization() < IDLE_UTILIZATION_MAX ? idleChecks + 1 : 0;
    const used = probe.usedBytes();
    lowest = Math.min(lowest, used);
    if (idleChecks < IDLE_CHECKS || used - lowest < worthwhileBytes) return;
    isCollecting = true;
    await probe.collect();
    isCollecting = false;
    lowest = probe.usedBytes();
  };
  return probe.every(CHECK_INTERVAL_MS, check);
}

export function thisProcess(): MemoryProbe {
  let before = performance.eventLoopUtilization();
  return {
    usedBytes: () => {
      const { heapTotal, external } = process.memoryUsage();
      return heapTotal + external;
    },
    utilization: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
    collect: collectGarbage,
    every(ms, work) {
      const timer = setInterval(work, ms).unref();
      return () => clearInterval(timer);
    },
  };
}

/** Runs the one collection that V8 offers without a flag. It also gives back the pages that `gc()` would keep in reserve. */
export function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  return new Promise((resolve) => {
    session.post('HeapProfiler.collectGarbage', () => {
      // Not from within: Node 20 calls back while it holds a lock that the end of the session takes, too.
      setImmediate(() => {
        session.disconnect();
        resolve();
      });
    });
  });
}
