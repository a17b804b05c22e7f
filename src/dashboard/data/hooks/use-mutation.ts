// The state of one mutation behind a button or a form.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, execute, toApiFailure } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';

export interface MutationState<Result, Variables> {
  /** Executes the mutation. @returns its result; undefined if it failed, with the reason in `error`. */
  mutate: (variables: Variables) => Promise<Result | undefined>;
  error: ApiFailure | undefined;
  isBusy: boolean;
  /** Clears the error. */
  reset: () => void;
}

export function useMutation<Result, Variables>(
  operation: Operation<Result, Variables>,
): MutationState<Result, Variables> {
  const [error, setError] = useState<ApiFailure>();
  const [isBusy, setBusy] = useState(false);
  const isMounted = useRef(true);
  useEffect(
    () => () => {
      isMounted.current = false;
    },
    [],
  );

  const mutate = useCallback(
    async (variables: Variables) => {
      setBusy(true);
      setError(undefined);
      try {
        return await execute(operation, variables);
      } catch (thrown) {
        if (isMounted.current) setError(toApiFailure(thrown));
        return undefined;
      } finally {
        if (isMounted.current) setBusy(false);
      }
    },
    [operation],
  );
  const reset = useCallback(() => setError(undefined), []);
  return { mutate, error, isBusy, reset };
}
