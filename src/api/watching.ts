// A subscription lives as long as the key that opened it, and the gateway.

import type { Change } from '../store/changes.ts';
import type { Context } from './context.ts';

/** Runs a source of events until its reader goes, or the caller's key is deleted or its owner changed. */
export async function* watching(
  context: Context,
  source: (signal: AbortSignal) => AsyncGenerator<Change>,
): AsyncGenerator<Change> {
  const { keyId, ownerId } = context.caller;
  const ended = new AbortController();
  const stop = context.app.changes.listen(({ kind, action, id }) => {
    if ((kind === 'apiKey' && action === 'DELETED' && id === keyId) || id === ownerId) ended.abort();
  });
  const signal = AbortSignal.any([ended.signal, context.app.ending]);
  try {
    yield* source(signal);
  } finally {
    ended.abort();
    stop();
  }
}
