// What keeps the sessions of visitors that a data plane has seen.

import type { Logger } from 'pino';
import type { VisitorSessionSource } from '../../http/visitor-sessions.ts';
import { SessionCache } from '../../policy/sign-in/session-cache.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import type { Lifecycle } from '../lifecycle.ts';

/** Starts the cache of sessions of a data plane. @param time the wall clock, in milliseconds. */
export function startSessionCache(
  parts: Lifecycle,
  source: VisitorSessionSource,
  { time, log }: { time(): number; log: Logger },
): Promise<SessionCache> {
  const onFailure = (error: unknown) =>
    log.warn(
      { err: describeFailure(error) },
      'it cannot be looked which sessions of visitors have ended; trying again',
    );
  let stopFollowing = () => {};
  return parts.start({
    name: 'sessions of visitors',
    start() {
      const cache = new SessionCache({ sessions: source, time, onFailure });
      stopFollowing = source.onEnded(async (ids) => cache.ended(ids));
      return cache;
    },
    stop(cache) {
      stopFollowing();
      cache.close();
    },
  });
}
