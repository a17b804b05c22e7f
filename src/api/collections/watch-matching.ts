// The changes of the objects that a filter leaves, as a stream: also that an object is not among them any more.

import type { Change } from '../../store/changes/changes.ts';
import type { Context } from '../context.ts';
import { type WatchedChanges, watchChanges } from './watch-changes.ts';

/** As many objects that a filter leaves are remembered. Where there are more, each change of one that it does not leave is told. */
const REMEMBERED_MAX = 1000;

/** A change, and whether its object is among those that the filter leaves. */
export type MatchedChange = Change & { isLeft?: boolean };

/** Asks the database for the ids of objects that the filter leaves: of one object, or as many as `take` says. */
export type FindMatching = (choice: { id?: string; take: number }) => Promise<readonly { id: string }[]>;

/**
 * Tells the changes of objects that a filter leaves, and with `isLeft` that one has left them. Otherwise as `watchChanges`.
 * Which objects were among them is read once nothing can be missed any more, before the mark that says so; a stream that continues
 * another does not know it, and tells of each object that is not among them.
 */
export async function* watchMatching(
  context: Context,
  watched: WatchedChanges,
  find: FindMatching,
  signal: AbortSignal,
): AsyncGenerator<MatchedChange> {
  const isContinued = context.client.lastEventId !== undefined;
  let inside: Set<string> | undefined;
  for await (const change of watchChanges(context, { ...watched, hasMarks: true }, signal)) {
    const { id, action } = change;
    if (id === '') {
      const known = await find({ take: REMEMBERED_MAX + 1 });
      inside = known.length > REMEMBERED_MAX ? undefined : new Set(known.map((one) => one.id));
      if (watched.hasMarks || isContinued) yield change;
      continue;
    }
    const matches = action !== 'DELETED' && (await find({ id, take: 1 })).length > 0;
    const wasInside = inside?.has(id) ?? true;
    if (matches) {
      inside?.add(id);
      if (inside && inside.size > REMEMBERED_MAX) inside = undefined;
      yield change;
    } else if (wasInside) {
      inside?.delete(id);
      yield { ...change, isLeft: action !== 'DELETED' };
    }
  }
}
