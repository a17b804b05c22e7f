// Watching the request log: all nodes are asked again and again, which bounds what a busy endpoint costs its watchers.

import { setTimeout as wait } from 'node:timers/promises';
import type { LogEntry } from '../../../request-log/log-entry.ts';
import type { LogQuery } from '../../../request-log/log-query.ts';
import type { RequestLogReader } from '../../dependencies.ts';

/** How often the nodes are asked, and the most requests that they are asked for; of more, the oldest are left out. */
const INTERVAL_MS = 1000;
export const WATCHED_MAX = 100;
/** The clocks of nodes may differ by so much; milliseconds. What is told again within it is known by its id. */
const OVERLAP_MS = 5000;

/**
 * The requests that are logged from now on, some at a time, the oldest first. Ends when `signal` is aborted or the reader
 * returns.
 * @param clock the wall clock, in milliseconds. @param since when now was, by it.
 */
export async function* watchLog(
  log: RequestLogReader,
  query: LogQuery,
  { clock, since }: { clock(): number; since: number },
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  let known = new Set<string>();
  while (!signal.aborted) {
    await wait(INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    const from = Math.max(query.from ?? 0, since, clock() - OVERLAP_MS);
    const { entries } = await log.newest({ ...query, from }, WATCHED_MAX);
    const fresh = entries.filter(({ id }) => !known.has(id));
    known = new Set(entries.map(({ id }) => id));
    if (fresh.length > 0) yield fresh.reverse();
  }
}
