// One query on screen, kept true.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, execute, toApiFailure } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { type RefreshTriggers, refreshOn } from '../live/refresh.ts';

export interface QueryOptions extends RefreshTriggers {
  /** Nothing is asked while it is true. */
  skip?: boolean;
  /** Shows the answer for the last variables until that for new ones is there. */
  keepPreviousData?: boolean;
}

export interface QueryState<Result> {
  /** The newest answer; undefined until there is one. */
  data: Result | undefined;
  /** Why the newest attempt failed. There may be older data beside it. */
  error: ApiFailure | undefined;
  /** Whether the first answer is still to come. */
  isLoading: boolean;
  /** Asks again now. */
  refetch: () => Promise<void>;
}

interface State<Result> {
  key: string;
  data?: Result;
  error?: ApiFailure;
}

/** Asks when it is first drawn, when variables change, and when an object of `kinds` changes. */
export function useQuery<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  { kinds, pollMs, skip = false, keepPreviousData = false }: QueryOptions = {},
): QueryState<Result> {
  const key = `${operation.id} ${JSON.stringify(variables)}`;
  const [state, setState] = useState<State<Result>>({ key });
  const refetchNow = useRef(async () => {});

  useEffect(() => {
    if (skip) return;
    const unmounted = new AbortController();
    const { refreshNow, stop } = refreshOn({ kinds, pollMs }, fetchData);
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
  return { data, error, isLoading: data === undefined && error === undefined && !skip, refetch };
}
