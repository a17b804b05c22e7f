// A subscription lives as long as the key or the browser session that opened it, and the gateway.

import type { Context } from '../context.ts';
import { ApiError, type ErrorName } from '../errors/errors.ts';
import { usedBy } from '../sign-in/address-access.ts';

/** How often it is looked at whether the caller still is who it was, whatever was heard. */
const CHECK_INTERVAL_MS = 60_000;

/**
 * Runs a source of events until its reader goes, the caller's key or browser session is over, or its owner changed.
 * Both are looked at when it begins, when something may have been missed, and once a minute.
 * @throws {ApiError} saying why it ended, when its reader did not end it, nor the gateway.
 */
export async function* whileAllowed<Event>(
  context: Context,
  source: (signal: AbortSignal) => AsyncGenerator<Event>,
): AsyncGenerator<Event> {
  const { app, caller, client } = context;
  const { keyId, sessionId, ownerId } = caller;
  const ended = new AbortController();
  let why: ErrorName | undefined;
  const end = (reason: ErrorName) => {
    why ??= reason;
    ended.abort();
  };
  const over = sessionId === undefined ? 'unknownApiKey' : 'sessionOver';
  // Who cannot be asked about does not go on.
  const checkAccess = () => {
    isAllowedStill(context).then(
      (isAllowed) => isAllowed || end(over),
      () => end('subscriptionOver'),
    );
  };
  const stops = [
    app.changes.listen(({ kind, action, id }) => {
      const isOpener = (kind === 'apiKey' && id === keyId) || (kind === 'browserSession' && id === sessionId);
      if (isOpener && action === 'DELETED') end(over);
      // The key may have other scopes.
      else if (isOpener || id === ownerId) end('subscriptionOver');
    }),
    app.changes.onGap(checkAccess),
    app.restrictions.onChange(() => {
      const used = usedBy(caller);
      if (app.restrictions.of(used, caller.accountId)?.refuses(client.ip)) end('subscriptionOver');
    }),
    // A generator that waits for a change would be ended by the next one only.
    client.onDisconnect(() => ended.abort()),
  ];
  const timer = setInterval(checkAccess, CHECK_INTERVAL_MS).unref();
  checkAccess();
  const signal = AbortSignal.any([ended.signal, app.shutdownSignal]);
  try {
    yield* source(signal);
    if (why !== undefined && !app.shutdownSignal.aborted) throw new ApiError(why);
  } finally {
    clearInterval(timer);
    ended.abort();
    for (const stop of stops) stop();
  }
}

/** Whether key or browser session are there still, and their owner is active and has the role that it had. */
export async function isAllowedStill({ app: { prisma, now }, caller }: Context): Promise<boolean> {
  const { keyId, sessionId, accountId, ownerId, isAdmin } = caller;
  const role = isAdmin ? ('ADMIN' as const) : ('MEMBER' as const);
  const owner = { is: { active: true, role } };
  const where = { accountId, ownerId, owner };
  const isInForce = { OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(now()) } }] };
  if (keyId !== undefined) return (await prisma.apiKey.count({ where: { ...where, id: keyId, ...isInForce } })) > 0;
  return (await prisma.browserSession.count({ where: { ...where, id: sessionId } })) > 0;
}
