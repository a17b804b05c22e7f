// One mutation behind a button or a form.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, failureOf, run } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';

export interface Action<Result, Variables> {
  /** Runs the mutation. @returns its result; undefined when it failed, which `error` then tells. */
  act: (variables: Variables) => Promise<Result | undefined>;
  error: ApiFailure | undefined;
  isBusy: boolean;
  /** Forgets the error. */
  clear: () => void;
}

export function useAction<Result, Variables>(operation: Operation<Result, Variables>): Action<Result, Variables> {
  const [error, setError] = useState<ApiFailure>();
  const [isBusy, setBusy] = useState(false);
  const isThere = useRef(true);
  useEffect(
    () => () => {
      isThere.current = false;
    },
    [],
  );

  const act = useCallback(
    async (variables: Variables) => {
      setBusy(true);
      setError(undefined);
      try {
        return await run(operation, variables);
      } catch (thrown) {
        if (isThere.current) setError(failureOf(thrown));
        return undefined;
      } finally {
        if (isThere.current) setBusy(false);
      }
    },
    [operation],
  );
  const clear = useCallback(() => setError(undefined), []);
  return { act, error, isBusy, clear };
}
