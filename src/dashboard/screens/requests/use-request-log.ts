// The request log, live: the newest first, and older ones on demand.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { type ApiFailure, execute, toApiFailure } from '../../data/client/client.ts';
import { useSubscription } from '../../data/hooks/use-subscription.ts';
import { type LoggedRowFragment, RequestLog, RequestsLogged } from '../../generated/operations.ts';
import type { LogVariables } from './filter.ts';

const PAGE_SIZE = 100;
/** More rows are not kept: the filter finds what is older. */
const MAX_ROWS = 2000;

interface LoadedLog {
  rows: readonly LoggedRowFragment[];
  /** Where the next page begins; undefined at the end. */
  next: string | undefined;
  isPartial: boolean;
}

export interface RequestLogState {
  /** Undefined until it is loaded. */
  log: LoadedLog | undefined;
  error: ApiFailure | undefined;
  loadMore: () => Promise<void>;
  refetch: () => Promise<void>;
}

/** @param isFollowed whether new requests are added live. When it becomes true, those that were missed are loaded. */
export function useRequestLog(variables: LogVariables, isFollowed: boolean): RequestLogState {
  const [log, setLog] = useState<LoadedLog>();
  const [error, setError] = useState<ApiFailure>();
  const key = JSON.stringify(variables);

  const load = useCallback(
    async (after?: string) => {
      try {
        const page = (await execute(RequestLog, { ...variables, first: PAGE_SIZE, after })).requestLog;
        if (!page) return;
        const next = page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? undefined) : undefined;
        setLog((last) => ({
          rows: merged(after ? (last?.rows ?? []) : [], page.nodes),
          next,
          isPartial: page.partial === true,
        }));
        setError(undefined);
      } catch (thrown) {
        setError(toApiFailure(thrown));
      }
    },
    [key],
  );

  const stream = useSubscription(
    RequestsLogged,
    variables,
    ({ requestsLogged }) => setLog((last) => last && { ...last, rows: merged(last.rows, requestsLogged) }),
    { skip: !isFollowed },
  );
  const isLive = isFollowed && stream.connection === 'live';
  useEffect(() => setLog(undefined), [key]);
  useEffect(() => void load(), [load, isLive]);
  return {
    log,
    error: error ?? stream.error,
    loadMore: () => load(log?.next),
    refetch: () => load(),
  };
}

/** Both, without duplicates, the newest first: ids sort by the time when requests were over. */
function merged(rows: readonly LoggedRowFragment[], others: readonly LoggedRowFragment[]): LoggedRowFragment[] {
  const byId = new Map([...rows, ...others].map((row) => [row.id, row]));
  return [...byId.values()].sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, MAX_ROWS);
}
