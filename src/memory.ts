// Gives back memory when a peak is over. V8 collects garbage when it needs room: a process that has nothing to do any
// more would keep what a busy hour left behind for ever.

import { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';

/** How often it is looked at; milliseconds. */
const LOOK_MS = 5000;
/** Calm is when the event loop was busy for less than this share of the time, for two looks in a row. */
const BUSY_MAX = 0.05;
const CALM_LOOKS = 2;
/** What was taken up since the last collection, at least; bytes. More than V8 lets garbage grow to when little is going on. */
const WORTH_BYTES = 64 * 1024 * 1024;

/** What is looked at, and what is done. */
export interface MemoryOf {
  /** What the heap takes up, with the buffers that belong to it; bytes. */
  taken(): number;
  /** For which share of the time since it was last asked the event loop was busy: 0 to 1. */
  busy(): number;
  /** Stops everything for some hundred milliseconds. */
  collect(): Promise<void>;
}

/**
 * Collects garbage when the process is calm and has taken up 64 MB since the last time: within 15 s after a peak, and
 * not again for what is still in use.
 * @returns ends it.
 */
export function giveMemoryBack(of: MemoryOf = thisProcess()): () => void {
  let left = of.taken();
  let calm = 0;
  let isCollecting = false;
  const look = async () => {
    if (isCollecting) return;
    calm = of.busy() < BUSY_MAX ? calm + 1 : 0;
    const taken = of.taken();
    left = Math.min(left, taken);
    if (calm < CALM_LOOKS || taken - left < WORTH_BYTES) return;
    isCollecting = true;
    await of.collect();
    isCollecting = false;
    left = of.taken();
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}

function thisProcess(): MemoryOf {
  let before = performance.eventLoopUtilization();
  return {
    taken: () => {
      const { heapTotal, external } = process.memoryUsage();
      return heapTotal + external;
    },
    busy: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
    collect: collectAll,
  };
}

/** The one collection that V8 offers without a flag; it also gives back what `gc()` would keep in reserve. */
function collectAll(): Promise<void> {
  const session = new Session();
  session.connect();
  return new Promise((done) => {
    session.post('HeapProfiler.collectGarbage', () => {
      session.disconnect();
      done();
    });
  });
}
