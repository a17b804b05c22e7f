// What changed, told to everything on screen by one stream.

import { signal } from '@preact/signals';
import { Changes } from '../../generated/operations.ts';
import type { ChangedObject, News } from './change-events.ts';
import { type Connection, subscribe } from './subscribe.ts';

export type { ChangedObject, News } from './change-events.ts';

interface Watcher {
  kinds: ReadonlySet<string>;
  listener: (news: News) => void;
}

/** Whether what is on screen is told of changes. */
export const connection = signal<Connection>('connecting');

const watchers = new Set<Watcher>();
let stop: (() => void) | undefined;
let hasBegun = false;

/** Hears of changes of objects of these kinds, until the returned function is called. */
export function onChange(kinds: readonly string[], listener: (news: News) => void): () => void {
  const watcher = { kinds: new Set(kinds), listener };
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Opens the stream: once somebody is signed in. */
export function goLive(): void {
  stop ??= subscribe(
    Changes,
    {},
    {
      next: ({ changes }) => tell(changes.changes),
      connection: (now) => {
        connection.value = now;
      },
    },
  );
}

/** Closes the stream: when somebody signs out. */
export function goQuiet(): void {
  stop?.();
  stop = undefined;
  hasBegun = false;
}

function tell(changes: readonly ChangedObject[]): void {
  // Each stream begins with an empty list; for every one but the first that means that there was a gap before it.
  if (changes.length === 0) {
    if (hasBegun) for (const { listener } of [...watchers]) listener('gap');
    hasBegun = true;
    return;
  }
  for (const { kinds, listener } of [...watchers]) {
    const mine = changes.filter(({ kind }) => kinds.has(kind));
    if (mine.length > 0) listener(mine);
  }
}
