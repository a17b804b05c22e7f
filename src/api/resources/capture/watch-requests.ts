// Watching the requests to an address as they are captured.

import type { RequestCapture } from '../../../capture/captured-request.ts';
import type { CaptureRef, ClusterCaptures } from '../../../capture/cluster-captures.ts';
import type { CaptureTarget } from '../../../capture/stored-capture.ts';

/** How many requests may wait for one slow reader; the oldest are dropped beyond it. */
export const WAITING_MAX = 100;

/**
 * The requests to an address as they are captured, left out those that are forgotten before they are read, and those that
 * the reader may not look at. Ends when `signal` is aborted or the reader returns.
 */
export async function* watchRequests(
  captures: ClusterCaptures,
  target: CaptureTarget,
  mayLook: (ref: CaptureRef) => boolean,
  signal: AbortSignal,
): AsyncGenerator<RequestCapture> {
  // Where they are: what waits for a slow reader must not hold what is forgotten.
  const waiting: CaptureRef[] = [];
  let wake = () => {};
  const stop = captures.listen(target, (ref) => {
    if (waiting.push(ref) > WAITING_MAX) waiting.shift();
    wake();
  });
  const aborted = () => wake();
  signal.addEventListener('abort', aborted);
  try {
    while (!signal.aborted) {
      const next = waiting.shift();
      // Who watches while nothing is captured may not look at what somebody else switches on.
      const [captured] = next && mayLook(next) ? await captures.read([next]) : [];
      if (captured) yield captured;
      else if (next === undefined)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    stop();
    signal.removeEventListener('abort', aborted);
  }
}
