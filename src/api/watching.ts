// A subscription lives as long as the key or the browser session that opened it, and the gateway.

import type { Context } from './context.ts';

/** Runs a source of events until its reader goes, the caller's key or browser session is over, or its owner changed. */
export async function* watching<Event>(
  context: Context,
  source: (signal: AbortSignal) => AsyncGenerator<Event>,
): AsyncGenerator<Event> {
  const { app, caller, client } = context;
  const { keyId, sessionId, ownerId } = caller;
  const ended = new AbortController();
  // A session may have ended before anybody listened, or while nobody heard. Who cannot be asked about does not go on.
  const lookAgain = () => {
    if (sessionId === undefined) return;
    app.prisma.browserSession.count({ where: { id: sessionId } }).then(
      (count) => count > 0 || ended.abort(),
      () => ended.abort(),
    );
  };
  const stops = [
    app.changes.listen(({ kind, action, id }) => {
      const isOpener = (kind === 'apiKey' && id === keyId) || (kind === 'browserSession' && id === sessionId);
      if ((isOpener && action === 'DELETED') || id === ownerId) ended.abort();
    }),
    app.changes.onGap(lookAgain),
    // A generator that waits for a change would be ended by the next one only.
    client.onGone(() => ended.abort()),
  ];
  lookAgain();
  const signal = AbortSignal.any([ended.signal, app.ending]);
  try {
    yield* source(signal);
  } finally {
    ended.abort();
    for (const stop of stops) stop();
  }
}
