// Starts the request log of a process that carries visitors.

import { RequestLog } from '../request-log/request-log.ts';
import type { Lifecycle } from './lifecycle.ts';

/** @param maxBytes 0: there is none. @param now a clock that never goes back, in milliseconds. */
export async function startRequestLog(
  parts: Lifecycle,
  maxBytes: number,
  now: () => number,
): Promise<RequestLog | undefined> {
  if (maxBytes === 0) return undefined;
  return parts.start({
    name: 'request log',
    start: () => new RequestLog({ maxBytes, time: Date.now, now }),
    stop: (log) => log.close(),
  });
}
