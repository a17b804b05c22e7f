// Deletes expired rows from the database at intervals.

import type { Logger } from 'pino';
import { RETENTION_MS } from '../api/idempotency.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { forgetAgents } from '../store/agents/forget-agents.ts';
import { sweepAudit } from '../store/audit/sweep-audit.ts';
import { sweepBulkJobs } from '../store/bulk/sweep-bulk-jobs.ts';
import { sweepCaptures } from '../store/captures/traffic-captures.ts';
import { type SiteScope, sweepSites } from '../store/domains/sites.ts';
import type { NodeLease } from '../store/node-lease.ts';
import { type NodeDeps, sweepExpiredAddresses, sweepNodes } from '../store/nodes/nodes.ts';
import { sweepSignIns } from '../store/sign-in/sessions.ts';
import { settleSites } from '../store/tunnels/settle-sites.ts';
import { sweepAppSessions } from '../store/visitors/app-session-rows.ts';

/** The interval of the deletions; milliseconds. */
const HOUSEKEEPING_INTERVAL_MS = 10 * 60 * 1000;

/** How often the sessions of this node are compared with the database, in milliseconds: what a lost hint missed is found within 5 s. */
const SESSION_CHECK_INTERVAL_MS = 4000;

/** The dependencies of the housekeeping. */
export interface HousekeepingParts extends NodeDeps {
  log: Logger;
  /** The wall clock, in milliseconds. */
  now(): number;
}

/** The settings of the housekeeping. */
export interface HousekeepingOptions {
  node: NodeLease;
  /** How long the addresses of a lost session stay reserved for its credential; milliseconds. */
  holdMs: number;
  /** The domain that accounts share, whose sites are swept. */
  baseDomain: string;
  /** How many days the audit trail is kept. */
  auditDays: number;
  /** After how many days an agent is forgotten that has not been seen. */
  agentKeepDays: number;
  /**
   * The interval at which nodes with an expired lease are searched, in milliseconds; undefined when there is only one
   * node.
   */
  sweepMs: number | undefined;
}

/** Starts the deletions. @returns a function that stops them. It resolves when none is in progress. */
export function startHousekeeping(
  parts: HousekeepingParts,
  { node, holdMs, baseDomain, auditDays, agentKeepDays, sweepMs }: HousekeepingOptions,
): () => Promise<void> {
  const { prisma, changes, log, now } = parts;
  const failed = (error: unknown) => log.warn({ err: describeFailure(error) }, 'housekeeping failed');
  let sweep: Promise<void> | undefined;
  const timers = [
    every(
      HOUSEKEEPING_INTERVAL_MS,
      () =>
        Promise.all([
          prisma.idempotentAnswer.deleteMany({ where: { createdAt: { lt: new Date(now() - RETENTION_MS) } } }),
          sweepExpiredAddresses(parts, node, holdMs),
          keepSites(parts, { baseDomain, nodeId: node.id, holdMs }),
          forgetAgents(parts, agentKeepDays),
          sweepSignIns(prisma, changes, now()),
          sweepAppSessions(prisma, changes, now()),
          sweepAudit(prisma, auditDays, now()),
          sweepBulkJobs(prisma, changes, now()),
          sweepCaptures(prisma, changes, now()),
        ]),
      failed,
    ),
  ];
  if (sweepMs !== undefined)
    timers.push(
      every(
        sweepMs,
        // Only one sweep runs at a time, so that a database that hangs gets no further queries.
        async () => {
          sweep ??= sweepNodes(parts, node, holdMs).finally(() => {
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

/** Settles and sweeps sites. What ended is logged: the operator has to know of accounts that stood in each other's way. */
export async function keepSites(
  { prisma, changes, baseUrl, log }: Omit<HousekeepingParts, 'now'>,
  scope: SiteScope,
): Promise<void> {
  for (const { site, accountId, otherAccountId, names } of await settleSites({ prisma, changes, baseUrl }, scope))
    log.warn(
      { site, keptBy: accountId, endedOf: otherAccountId, names },
      'two accounts used names of one site: the one that was there first keeps it, and the names of the other were ended',
    );
  while (await prisma.$transaction((tx) => sweepSites(tx, scope)));
}

/** Checks at intervals whether sessions of this node have ended elsewhere without this node having heard it. @returns the timer. */
export function startSessionCheck(endMissingSessions: () => Promise<void>, log: Logger): NodeJS.Timeout {
  return every(SESSION_CHECK_INTERVAL_MS, endMissingSessions, (error) =>
    log.debug({ err: describeFailure(error) }, 'sessions could not be checked'),
  );
}

/** Runs a task at an interval. The timer does not keep the process alive. @param ms the interval in milliseconds. */
export function every(ms: number, task: () => Promise<unknown>, failed: (error: unknown) => void): NodeJS.Timeout {
  return setInterval(() => void task().catch(failed), ms).unref();
}
