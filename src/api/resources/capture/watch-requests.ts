// Watching an endpoint's requests as they are captured.

import type { RequestCapture } from '../../../capture/captured-request.ts';
import type { Captures } from '../../../capture/captures.ts';

/** How many requests may wait for one slow reader; the oldest are dropped beyond it. */
export const WAITING_MAX = 100;

/**
 * The requests to an endpoint as they are captured, left out those that are forgotten before they are read, and those that
 * the reader may not look at. Ends when
 * `signal` is aborted or the reader returns.
 */
export async function* watchRequests(
  captures: Captures,
  endpointId: string,
  mayLook: () => boolean,
  signal: AbortSignal,
): AsyncGenerator<RequestCapture> {
  // Ids: what waits for a slow reader must not hold what is forgotten.
  const waiting: string[] = [];
  let wake = () => {};
  const stop = captures.listen(endpointId, ({ id }) => {
    if (waiting.push(id) > WAITING_MAX) waiting.shift();
    wake();
  });
  const aborted = () => wake();
  signal.addEventListener('abort', aborted);
  try {
    while (!signal.aborted) {
      const next = waiting.shift();
      const captured = next === undefined ? undefined : captures.get(next);
      // Who watches while nothing is captured may not look at what somebody else switches on.
      if (captured && mayLook()) yield captured;
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
