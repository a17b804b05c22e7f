// The changes of one kind of object, or of several in one list, as a stream: from where its client was, if it says so.

import type { Change } from '../../store/changes/changes.ts';
import type { Context } from '../context.ts';

/** Changes that wait for one slow reader. When there are more, a mark stands for them, or else the oldest are forgotten. */
const WAITING_MAX = 1000;

/** Which changes to tell. */
export interface WatchedChanges {
  kinds: readonly string[];
  /** Of these objects only; of all when undefined. */
  ids: ReadonlySet<string> | undefined;
  /** Whether to tell when nothing can be missed any more, and when something may have been. */
  hasMarks: boolean;
}

interface Told {
  change: Change;
  /** Where the stream is behind it. */
  position: string;
}

/**
 * Tells changes as they happen, until `signal` is aborted or the reader returns. A stream that continues another tells first what
 * happened in between. A mark, a change without an id, says that whoever shows such objects has to ask for them again: it is told
 * where marks are asked for, and where a stream was to be continued and cannot be.
 */
export async function* watchChanges(
  { app, accountId, client }: Context,
  { kinds, ids, hasMarks }: WatchedChanges,
  signal: AbortSignal,
): AsyncGenerator<Change> {
  const { changes, changeHistory } = app;
  const { lastEventId } = client;
  let waiting: Told[] = [];
  let wake = () => {};
  const tell = (change: Change): void => {
    waiting.push({ change, position: changeHistory.position(accountId) });
    if (waiting.length > WAITING_MAX) waiting.shift();
    wake();
  };
  const mark = () => tell({ kind: kinds[0] ?? '', action: 'UPDATED', id: '', accountId });
  const isWatched = (change: Change) =>
    kinds.includes(change.kind) && change.accountId === accountId && (!ids || ids.has(change.id));
  const stops = [
    changes.listen((change) => {
      if (!isWatched(change)) return;
      if (hasMarks && waiting.length >= WAITING_MAX) {
        waiting = [];
        mark();
      }
      tell(change);
    }),
    changes.onGap(() => {
      if (hasMarks) mark();
    }),
  ];
  const aborted = () => wake();
  signal.addEventListener('abort', aborted);
  const missed = lastEventId === undefined ? undefined : changeHistory.since(accountId, lastEventId);
  if (missed) for (const change of missed.filter(isWatched)) tell(change);
  else if (hasMarks || lastEventId !== undefined) mark();
  try {
    while (!signal.aborted) {
      const next = waiting.shift();
      if (next) {
        client.eventId = next.position;
        yield next.change;
      } else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    for (const stop of stops) stop();
    signal.removeEventListener('abort', aborted);
  }
}
