// Starts the captures of a node: what it records, as it is stored which captures are on.

import type { Logger } from 'pino';
import { Captures, type CapturesDeps } from '../capture/captures.ts';
import { type CaptureFollower, followCaptures } from '../capture/follow-captures.ts';
import type { CaptureSource } from '../capture/stored-capture.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { Lifecycle } from './lifecycle.ts';

/** Starts them; the captures that are on are loaded then, so that what was on before a restart goes on with the first visitor. */
export async function startCaptures(
  parts: Lifecycle,
  { source, log, ...deps }: CapturesDeps & { source: CaptureSource; log: Logger },
): Promise<{ captures: Captures; follower: CaptureFollower }> {
  const captures = await parts.start({
    name: 'captures',
    start: () => new Captures(deps),
    stop: (captures) => captures.close(),
  });
  const onFailure = (error: unknown) =>
    log.error({ err: describeFailure(error) }, 'the captures cannot be loaded; trying again');
  const follower = await parts.start({
    name: 'stored captures',
    start: () => followCaptures(captures, source, onFailure),
    stop: (follower) => follower.close(),
  });
  return { captures, follower };
}
