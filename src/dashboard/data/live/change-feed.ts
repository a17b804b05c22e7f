// The change feed: one subscription that notifies everything on screen of changed objects.

import { signal } from '@preact/signals';
import { Changes } from '../../generated/operations.ts';
import type { ChangedObject, ChangeEvents } from './change-events.ts';
import { type ConnectionStatus, subscribe } from './subscribe.ts';

export type { ChangedObject, ChangeEvents } from './change-events.ts';

interface ChangeListener {
  kinds: ReadonlySet<string>;
  listener: (events: ChangeEvents) => void;
}

/** The state of the change feed. */
export const connection = signal<ConnectionStatus>('connecting');

const listeners = new Set<ChangeListener>();
let stop: (() => void) | undefined;
let hasConnectedBefore = false;

/** Calls the listener with changes of objects of these kinds. @returns a function that removes the listener. */
export function onObjectChange(kinds: readonly string[], listener: (events: ChangeEvents) => void): () => void {
  const entry = { kinds: new Set(kinds), listener };
  listeners.add(entry);
  return () => listeners.delete(entry);
}

/** Opens the feed after somebody signed in. */
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

/** Closes the feed after somebody signed out. */
export function closeChangeFeed(): void {
  stop?.();
  stop = undefined;
  hasConnectedBefore = false;
}

function dispatchChanges(changes: readonly ChangedObject[]): void {
  // The server sends an empty list when the stream opens. After a reconnection it means that changes may have been
  // missed.
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
