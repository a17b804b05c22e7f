// One subscription of a screen.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { type Connection, subscribe } from '../live/subscribe.ts';

export interface Subscription {
  connection: Connection;
  /** Why it ended for good. */
  error: ApiFailure | undefined;
}

/** Calls `next` with each result as long as the component is drawn and `isOff` isn't true. */
export function useSubscription<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  next: (result: Result) => void,
  { isOff = false } = {},
): Subscription {
  const [connection, setConnection] = useState<Connection>('connecting');
  const [error, setError] = useState<ApiFailure>();
  const newest = useRef(next);
  newest.current = next;

  useEffect(() => {
    if (isOff) return;
    setError(undefined);
    return subscribe(operation, variables, {
      next: (result) => newest.current(result),
      failed: setError,
      connection: setConnection,
    });
  }, [operation, JSON.stringify(variables), isOff]);

  return { connection, error };
}
