// The captured requests of an endpoint, live. The gateway keeps the newest 200, and so does this list.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, execute, toApiFailure } from '../../data/client/client.ts';
import { useSubscription } from '../../data/hooks/use-subscription.ts';
import { CapturedRequests, type CapturedRowFragment, RequestCaptured } from '../../generated/operations.ts';

const MAX_REQUESTS = 200;
const PAGE_SIZE = 100;

type Rows = readonly CapturedRowFragment[];

export interface CapturedRequestsState {
  /** The requests, the newest first; undefined until they are loaded. */
  rows: Rows | undefined;
  error: ApiFailure | undefined;
  refetch: () => Promise<void>;
}

/** @param isFollowed whether new requests are added live. When it becomes true, those that were missed are loaded. */
export function useCapturedRequests(endpointId: string, isFollowed: boolean): CapturedRequestsState {
  const [rows, setRows] = useState<Rows>();
  const [error, setError] = useState<ApiFailure>();
  const pending = useRef<CapturedRowFragment[]>([]);
  const newestId = useRef('');
  const frame = useRef<number | undefined>(undefined);
  newestId.current = rows?.[0]?.id ?? '';

  const refetch = useCallback(async () => {
    const before = newestId.current;
    try {
      const kept = await fetchCapturedRequests(endpointId);
      // The response may lack requests that the stream has delivered since.
      setRows((last) =>
        prepend(
          kept,
          (last ?? []).filter(({ id }) => id > before && id > (kept[0]?.id ?? '')),
        ),
      );
      setError(undefined);
    } catch (thrown) {
      setError(toApiFailure(thrown));
    }
  }, [endpointId]);

  // Any number of new requests causes one render per frame.
  const stream = useSubscription(
    RequestCaptured,
    { endpointId },
    ({ requestCaptured }) => {
      pending.current.push(requestCaptured);
      frame.current ??= requestAnimationFrame(() => {
        frame.current = undefined;
        const received = pending.current.splice(0).reverse();
        setRows((last) => prepend(last ?? [], received));
      });
    },
    { skip: !isFollowed },
  );
  useEffect(() => () => cancelAnimationFrame(frame.current ?? 0), []);

  // Requests that were missed are loaded each time the stream opens.
  const isLive = isFollowed && stream.connection === 'live';
  useEffect(() => void refetch(), [refetch, isLive]);
  return { rows, error: error ?? stream.error, refetch };
}

async function fetchCapturedRequests(endpointId: string): Promise<Rows> {
  const rows: CapturedRowFragment[] = [];
  let after: string | undefined;
  do {
    const page = (await execute(CapturedRequests, { endpointId, first: PAGE_SIZE, after })).capturedRequests;
    rows.push(...(page?.nodes ?? []));
    after = page?.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? undefined) : undefined;
  } while (after !== undefined && rows.length < MAX_REQUESTS);
  return rows;
}

/** Puts new requests before the others, without duplicates. */
function prepend(rows: Rows, received: Rows): Rows {
  if (received.length === 0) return rows;
  const ids = new Set(received.map(({ id }) => id));
  return [...received, ...rows.filter(({ id }) => !ids.has(id))].slice(0, MAX_REQUESTS);
}
