// One query on screen, kept true.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, failureOf, run } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { type Occasions, refresh } from '../live/refresh.ts';

export interface QueryOptions extends Occasions {
  /** Nothing is asked while it is true. */
  isOff?: boolean;
  /** Shows the answer for the last variables until that for new ones is there. */
  keepsData?: boolean;
}

export interface Query<Result> {
  /** The newest answer; undefined until there is one. */
  data: Result | undefined;
  /** Why the newest attempt failed. There may be older data beside it. */
  error: ApiFailure | undefined;
  /** Whether the first answer is still to come. */
  isLoading: boolean;
  /** Asks again now. */
  reload: () => Promise<void>;
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
  { kinds, everyMs, isOff = false, keepsData = false }: QueryOptions = {},
): Query<Result> {
  const key = `${operation.id} ${JSON.stringify(variables)}`;
  const [state, setState] = useState<State<Result>>({ key });
  const askNow = useRef(async () => {});

  useEffect(() => {
    if (isOff) return;
    const gone = new AbortController();
    const { now, end } = refresh({ kinds, everyMs }, ask);
    askNow.current = now;
    void now();
    return () => {
      gone.abort();
      end();
    };

    async function ask(): Promise<void> {
      try {
        const data = await run(operation, variables, gone.signal);
        if (!gone.signal.aborted) setState({ key, data });
      } catch (error) {
        if (gone.signal.aborted) return;
        setState((last) => ({ key, data: last.key === key ? last.data : undefined, error: failureOf(error) }));
      }
    }
  }, [key, kinds?.join(), everyMs, isOff]);

  const reload = useCallback(() => askNow.current(), []);
  const isMine = state.key === key;
  const data = isMine || keepsData ? state.data : undefined;
  const error = isMine ? state.error : undefined;
  return { data, error, isLoading: data === undefined && error === undefined && !isOff, reload };
}
