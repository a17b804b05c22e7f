// The captured requests of an endpoint, live. The gateway keeps the newest 200, so all of them are kept here, too.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, execute, toApiFailure } from '../../data/client/client.ts';
import { useSubscription } from '../../data/hooks/use-subscription.ts';
import { CapturedRequests, type CapturedRowFragment, RequestCaptured } from '../../generated/operations.ts';

const MOST = 200;
const PAGE_SIZE = 100;

type Rows = readonly CapturedRowFragment[];

export interface Captured {
  /** The newest first; undefined until they are known. */
  rows: Rows | undefined;
  error: ApiFailure | undefined;
  refetch: () => Promise<void>;
}

/** @param isFollowed whether new ones come as they are captured. What came meanwhile is there once it is true again. */
export function useCaptured(endpointId: string, isFollowed: boolean): Captured {
  const [rows, setRows] = useState<Rows>();
  const [error, setError] = useState<ApiFailure>();
  const waiting = useRef<CapturedRowFragment[]>([]);
  const newest = useRef('');
  const frame = useRef<number | undefined>(undefined);
  newest.current = rows?.[0]?.id ?? '';

  const refetch = useCallback(async () => {
    const before = newest.current;
    try {
      const kept = await keptOf(endpointId);
      // Those that the stream has brought meanwhile may be missing in the answer.
      setRows((last) =>
        joined(
          kept,
          (last ?? []).filter(({ id }) => id > before && id > (kept[0]?.id ?? '')),
        ),
      );
      setError(undefined);
    } catch (thrown) {
      setError(toApiFailure(thrown));
    }
  }, [endpointId]);

  // However many come, they are drawn once a frame.
  const stream = useSubscription(
    RequestCaptured,
    { endpointId },
    ({ requestCaptured }) => {
      waiting.current.push(requestCaptured);
      frame.current ??= requestAnimationFrame(() => {
        frame.current = undefined;
        const news = waiting.current.splice(0).reverse();
        setRows((last) => joined(last ?? [], news));
      });
    },
    { skip: !isFollowed },
  );
  useEffect(() => () => cancelAnimationFrame(frame.current ?? 0), []);

  // Each time that the stream opens, what was missed before is asked for.
  const isLive = isFollowed && stream.connection === 'live';
  useEffect(() => void refetch(), [refetch, isLive]);
  return { rows, error: error ?? stream.error, refetch };
}

async function keptOf(endpointId: string): Promise<Rows> {
  const rows: CapturedRowFragment[] = [];
  let after: string | undefined;
  do {
    const page = (await execute(CapturedRequests, { endpointId, first: PAGE_SIZE, after })).capturedRequests;
    rows.push(...(page?.nodes ?? []));
    after = page?.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? undefined) : undefined;
  } while (after !== undefined && rows.length < MOST);
  return rows;
}

/** The news before the rest, none of them twice. */
function joined(rows: Rows, news: Rows): Rows {
  if (news.length === 0) return rows;
  const ids = new Set(news.map(({ id }) => id));
  return [...news, ...rows.filter(({ id }) => !ids.has(id))].slice(0, MOST);
}
