// Watching how delivery to a destination is going: a busy one changes many times a second, people look once.

import { setTimeout as pause } from 'node:timers/promises';
import type { Change, Changes } from '../../../store/changes/changes.ts';

/** The time between two of the same destination; milliseconds. */
const PACE_MS = 500;

/**
 * Tells at once, and then each time that delivery to a destination may have changed; several changes in short order are
 * one. Ends when the destination is deleted, when `signal` is aborted, or the reader returns.
 */
export async function* watchDelivery(
  changes: Changes,
  { id, accountId }: { id: string; accountId: string },
  signal: AbortSignal,
): AsyncGenerator<Change> {
  let isChanged = true;
  let isGone = false;
  let wake = () => {};
  const changed = () => {
    isChanged = true;
    wake();
  };
  const stops = [
    changes.listen((change) => {
      if (change.id !== id || change.accountId !== accountId) return;
      if (change.kind === 'eventDestination' && change.action === 'DELETED') isGone = true;
      else if (change.kind !== 'eventDelivery') return;
      changed();
    }),
    changes.onGap(changed),
  ];
  signal.addEventListener('abort', changed);
  try {
    while (!signal.aborted && !isGone) {
      if (isChanged) {
        isChanged = false;
        yield { kind: 'eventDelivery', action: 'UPDATED', id, accountId };
        await pause(PACE_MS, undefined, { signal }).catch(() => undefined); // Aborted: the loop ends.
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    for (const stop of stops) stop();
    signal.removeEventListener('abort', changed);
  }
}
