// The state of one subscription of a screen.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { type ConnectionStatus, subscribe } from '../live/subscribe.ts';

export interface SubscriptionState {
  connection: ConnectionStatus;
  /** The error that ended it for good. */
  error: ApiFailure | undefined;
}

/** Calls `next` with each result while the component is mounted and `skip` is false. */
export function useSubscription<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  next: (result: Result) => void,
  { skip = false } = {},
): SubscriptionState {
  const [connection, setConnection] = useState<ConnectionStatus>('connecting');
  const [error, setError] = useState<ApiFailure>();
  const latestNext = useRef(next);
  latestNext.current = next;

  useEffect(() => {
    if (skip) return;
    setError(undefined);
    return subscribe(operation, variables, {
      next: (result) => latestNext.current(result),
      onFailure: setError,
      connection: setConnection,
    });
  }, [operation, JSON.stringify(variables), skip]);

  return { connection, error };
}
