// What is deleted from the database now and then.

import type { Logger } from 'pino';
import { describeFailure } from './api/failure.ts';
import { KEPT_MS } from './api/idempotency.ts';
import { type NodeParts, sweepLive } from './store/nodes.ts';
import { sweepSignIns } from './store/sign-in/sessions.ts';

const HOUSEKEEPING_MS = 10 * 60 * 1000;

export interface HousekeepingParts extends NodeParts {
  log: Logger;
  /** The wall clock, in milliseconds. */
  now(): number;
}

/** Deletes from the database what has had its time. @returns what `clearInterval` ends it with. */
export function startHousekeeping(
  parts: HousekeepingParts,
  { nodeId, holdMs }: { nodeId: string; holdMs: number },
): NodeJS.Timeout {
  const { prisma, changes, log, now } = parts;
  return every(
    HOUSEKEEPING_MS,
    () =>
      Promise.all([
        prisma.idempotentAnswer.deleteMany({ where: { createdAt: { lt: new Date(now() - KEPT_MS) } } }),
        sweepLive(parts, nodeId, holdMs),
        sweepSignIns(prisma, changes, now()),
      ]),
    (error) => log.warn({ err: describeFailure(error) }, 'housekeeping failed'),
  );
}

/** Does work again and again, for as long as the process has anything else to do. @param ms between two beginnings. */
export function every(ms: number, work: () => Promise<unknown>, failed: (error: unknown) => void): NodeJS.Timeout {
  return setInterval(() => void work().catch(failed), ms).unref();
}
