// Preloaded into a process: prints a line for each full collection of garbage, and makes one on SIGWINCH, as a gateway does
// by itself when it becomes idle.

import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** @param {PerformanceEntry & { detail?: { kind?: number } }} entry */
const isFull = ({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

if (isMainThread) {
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (isFull(entry)) writeSync(1, 'full collection\n');
  }).observe({ type: 'gc' });
  process.on('SIGWINCH', () => {
    const session = new Session();
    session.connect();
    session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()));
  });
}
