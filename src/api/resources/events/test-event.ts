// Trying an event destination: one event, sent at once, so that whoever sets it up sees whether it arrives.

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { openTargetIfReadable } from '../../../store/events/target.ts';
import type { Context } from '../../context.ts';
import type { TrialOutcome } from '../../delivery.ts';
import { ApiError, found } from '../../errors/errors.ts';

/** How many trials an account may make a minute: each is a request to somebody else's server. */
const TRIALS_MAX = 10;
const MINUTE_SECONDS = 60;

const limiter = new RateLimiterMemory({ points: TRIALS_MAX, duration: MINUTE_SECONDS });

/** @throws {ApiError} when there is no such destination, or the account has tried too often. */
export async function tryDestination(context: Context, id: string): Promise<TrialOutcome> {
  const { app, accountId } = context;
  const where = { id, accountId };
  const row = found(await context.db.eventDestination.findUnique({ where }), 'event destination');
  await limiter.consume(accountId).catch(({ msBeforeNext }: RateLimiterRes) => {
    throw new ApiError('tooManyTrials', { limit: TRIALS_MAX, seconds: Math.ceil(msBeforeNext / 1000) });
  });
  return app.delivery.tryDestination(openTargetIfReadable(app.keys, row), { destinationId: id, accountId });
}
