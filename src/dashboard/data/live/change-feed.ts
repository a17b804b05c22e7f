// What changed, told to everything on screen by one stream.

import { signal } from '@preact/signals';
import { Changes } from '../../generated/operations.ts';
import type { ChangedObject, ChangeEvents } from './change-events.ts';
import { type ConnectionStatus, subscribe } from './subscribe.ts';

export type { ChangedObject, ChangeEvents } from './change-events.ts';

interface ChangeListener {
  kinds: ReadonlySet<string>;
  listener: (events: ChangeEvents) => void;
}

/** Whether what is on screen is told of changes. */
export const connection = signal<ConnectionStatus>('connecting');

const listeners = new Set<ChangeListener>();
let stop: (() => void) | undefined;
let hasConnectedBefore = false;

/** Hears of changes of objects of these kinds, until the returned function is called. */
export function onObjectChange(kinds: readonly string[], listener: (events: ChangeEvents) => void): () => void {
  const entry = { kinds: new Set(kinds), listener };
  listeners.add(entry);
  return () => listeners.delete(entry);
}

/** Opens the stream: once somebody is signed in. */
export function openChangeFeed(): void {
  stop ??= subscribe(
    Changes,
    {},
    {
      next: ({ changes }) => dispatchChanges(changes.changes),
      connection: (status) => {
        connection.value = status;
      },
    },
  );
}

/** Closes the stream: when somebody signs out. */
export function closeChangeFeed(): void {
  stop?.();
  stop = undefined;
  hasConnectedBefore = false;
}

function dispatchChanges(changes: readonly ChangedObject[]): void {
  // Each stream begins with an empty list; for every one but the first that means that there was a gap before it.
  if (changes.length === 0) {
    if (hasConnectedBefore) for (const { listener } of [...listeners]) listener('gap');
    hasConnectedBefore = true;
    return;
  }
  for (const { kinds, listener } of [...listeners]) {
    const relevant = changes.filter(({ kind }) => kinds.has(kind));
    if (relevant.length > 0) listener(relevant);
  }
}
