// Starts what knows the IP restrictions of accounts.

import type { Logger } from 'pino';
import { LiveRestrictions } from '../../edge/restrictions/live-restrictions.ts';
import type { RestrictionSource } from '../../edge/restrictions/restriction-source.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import type { Lifecycle } from '../lifecycle.ts';

/** Starts it; all are loaded then, so that nobody gets in before. */
export async function startRestrictions(
  parts: Lifecycle,
  source: RestrictionSource,
  log: Logger,
): Promise<LiveRestrictions> {
  const restrictions = await parts.start({
    name: 'IP restrictions',
    start: () =>
      new LiveRestrictions({
        source,
        onFailure: (error) =>
          log.error({ err: describeFailure(error) }, 'the IP restrictions cannot be loaded; trying again'),
        onWouldRefuse: (refusal) => log.info(refusal, 'would be rejected, if the IP restriction were enforced'),
      }),
    stop: (restrictions) => restrictions.close(),
  });
  await restrictions.start();
  return restrictions;
}
