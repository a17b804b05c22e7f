// The result of one query, kept current.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, execute, toApiFailure } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { type RefreshTriggers, refreshOn } from '../live/refresh.ts';

export interface QueryOptions extends RefreshTriggers {
  /** Sends no request while it is true. */
  skip?: boolean;
  /** Keeps the previous result while that for new variables is loading. */
  keepPreviousData?: boolean;
}

export interface QueryState<Result> {
  /** The latest result; undefined until there is one. */
  data: Result | undefined;
  /** Whether `data` is still that of earlier variables, because of `keepPreviousData`. */
  isPrevious: boolean;
  /** The error of the latest request. There may be older data beside it. */
  error: ApiFailure | undefined;
  /** Whether the first response is pending. */
  isLoading: boolean;
  /** Sends the request again now. */
  refetch: () => Promise<void>;
}

interface State<Result> {
  key: string;
  data?: Result;
  error?: ApiFailure;
}

/** Executes the query on mount, when its variables change, and when an object of `kinds` changes. */
export function useQuery<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  { kinds, pollMs, minIntervalMs, skip = false, keepPreviousData = false }: QueryOptions = {},
): QueryState<Result> {
  const key = `${operation.id} ${JSON.stringify(variables)}`;
  const [state, setState] = useState<State<Result>>({ key });
  const refetchNow = useRef(async () => {});

  useEffect(() => {
    if (skip) return;
    const unmounted = new AbortController();
    const { refreshNow, stop } = refreshOn({ kinds, pollMs, minIntervalMs }, fetchData);
    refetchNow.current = refreshNow;
    void refreshNow();
    return () => {
      unmounted.abort();
      stop();
    };

    async function fetchData(): Promise<void> {
      try {
        const data = await execute(operation, variables, unmounted.signal);
        if (!unmounted.signal.aborted) setState({ key, data });
      } catch (error) {
        if (unmounted.signal.aborted) return;
        setState((last) => ({ key, data: last.key === key ? last.data : undefined, error: toApiFailure(error) }));
      }
    }
  }, [key, kinds?.join(), pollMs, skip]);

  const refetch = useCallback(() => refetchNow.current(), []);
  const isCurrent = state.key === key;
  const data = isCurrent || keepPreviousData ? state.data : undefined;
  const error = isCurrent ? state.error : undefined;
  const isPrevious = !isCurrent && data !== undefined;
  return { data, isPrevious, error, isLoading: data === undefined && error === undefined && !skip, refetch };
}
