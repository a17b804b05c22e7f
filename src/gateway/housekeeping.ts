// What is deleted from the database now and then.

import type { Logger } from 'pino';
import { RETENTION_MS } from '../api/idempotency.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { type NodeDeps, sweepExpiredAddresses, sweepNodes } from '../store/nodes/nodes.ts';
import { sweepSignIns } from '../store/sign-in/sessions.ts';

const HOUSEKEEPING_MS = 10 * 60 * 1000;

export interface HousekeepingParts extends NodeDeps {
  log: Logger;
  /** The wall clock, in milliseconds. */
  now(): number;
}

export interface HousekeepingOptions {
  nodeId: string;
  /** How long the addresses of a lost session stay reserved for its credential; milliseconds. */
  holdMs: number;
  /** How often nodes are looked for whose lease has ended; milliseconds. Left out: there is no other node. */
  sweepMs: number | undefined;
}

/** Deletes from the database what has had its time. @returns what ends it, done when nothing is under way. */
export function startHousekeeping(
  parts: HousekeepingParts,
  { nodeId, holdMs, sweepMs }: HousekeepingOptions,
): () => Promise<void> {
  const { prisma, changes, log, now } = parts;
  const failed = (error: unknown) => log.warn({ err: describeFailure(error) }, 'housekeeping failed');
  let sweep: Promise<void> | undefined;
  const timers = [
    every(
      HOUSEKEEPING_MS,
      () =>
        Promise.all([
          prisma.idempotentAnswer.deleteMany({ where: { createdAt: { lt: new Date(now() - RETENTION_MS) } } }),
          sweepExpiredAddresses(parts, nodeId, holdMs),
          sweepSignIns(prisma, changes, now()),
        ]),
      failed,
    ),
  ];
  if (sweepMs !== undefined)
    timers.push(
      every(
        sweepMs,
        // One at a time: a database that hangs is not asked again before it has answered.
        async () => {
          sweep ??= sweepNodes(parts, nodeId, holdMs).finally(() => {
            sweep = undefined;
          });
          await sweep;
        },
        failed,
      ),
    );
  return async () => {
    for (const timer of timers) clearInterval(timer);
    await sweep?.catch(() => undefined);
  };
}

/** Does work again and again, for as long as the process has anything else to do. @param ms between two beginnings. */
export function every(ms: number, work: () => Promise<unknown>, failed: (error: unknown) => void): NodeJS.Timeout {
  return setInterval(() => void work().catch(failed), ms).unref();
}
