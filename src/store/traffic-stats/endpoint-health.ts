// Finds the endpoints that fail: of whose last visits so many were answered with an error of the server, or not at all.

import type { Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { FailingSettings } from './failing-settings.ts';
import { lastBuckets } from './read-history.ts';
import { REQUESTS } from './traffic-rows.ts';
import { claimTask, noteDone, readTask } from './traffic-task.ts';

/** An endpoint that fails recovers below this part of the share, so that it does not go to and fro. */
const RECOVERED_PART = 0.5;
/** One that nobody has visited for so many windows does not count as failing any more: nothing is known of it. */
const UNVISITED_WINDOWS = 10;
/** For how long it is remembered since when an endpoint is well again; milliseconds. */
const REMEMBERED_MS = 24 * 3_600_000;

interface Observed {
  id: string;
  accountId: string;
  /** In the window. */
  requests: number;
  failures: number;
  /** As it was until now; null: it never failed. */
  failing: boolean | null;
  visitedAt: Date | null;
}

interface Verdict extends Pick<Observed, 'id' | 'accountId'> {
  failing: boolean;
  /** Whether that is new. */
  hasChanged: boolean;
}

/**
 * Looks at the last buckets, where this process holds the lease, and announces the endpoints that have begun to fail or recovered.
 * @param now in milliseconds since 1970.
 */
export async function checkHealth(
  { prisma, changes }: { prisma: PrismaClient; changes: Changes },
  settings: FailingSettings,
  holder: string,
  now: number,
): Promise<void> {
  const window = lastBuckets(now, settings.failingWindow);
  const { until, isOthers } = await readTask(prisma, 'health', holder);
  if (isOthers || until >= window.to) return;
  const observed = await observe(prisma, window);
  const verdicts = observed.flatMap((endpoint) => judge(endpoint, settings, window.to) ?? []);
  if (verdicts.length === 0) return;
  // Another process may have come to the same.
  const done = await claimTask(prisma, 'health', holder);
  if (done === undefined || done >= window.to) return;
  await changes.transaction(prisma, async (tx, announce) => {
    if (!(await noteDone(tx, 'health', holder, window.to))) return;
    await writeVerdicts(tx, verdicts, window.to);
    await tx.endpointHealth.deleteMany({
      where: { failing: false, since: { lt: new Date(window.to - REMEMBERED_MS) } },
    });
    for (const { id, accountId, hasChanged } of verdicts)
      if (hasChanged) announce({ kind: 'endpoint', action: 'UPDATED', id, accountId });
  });
}

/** The endpoints of which visits failed, and those that were failing until now. */
function observe(db: Db, { from, to }: { from: number; to: number }): Promise<Observed[]> {
  return db.$queryRaw<Observed[]>`
    WITH visited AS (
      SELECT t.subject_id AS id, t.account_id, ${REQUESTS} AS requests, sum(t.failures)::float8 AS failures
      FROM traffic_stat t
      WHERE t.resolution = 10 AND t.at >= ${new Date(from)} AND t.at < ${new Date(to)} AND t.subject_id LIKE 'ep\_%'
      GROUP BY t.subject_id, t.account_id
    )
    SELECT coalesce(v.id, h.endpoint_id) AS id, coalesce(v.account_id, h.account_id) AS "accountId",
      coalesce(v.requests, 0) AS requests, coalesce(v.failures, 0) AS failures, h.failing, h.visited_at AS "visitedAt"
    FROM visited v FULL JOIN endpoint_health h ON h.endpoint_id = v.id
    WHERE h.failing OR v.failures > 0`;
}

/** @returns what is to be written; undefined when all stays as it is. */
function judge(endpoint: Observed, settings: FailingSettings, now: number): Verdict | undefined {
  const { id, accountId, requests, failures, visitedAt } = endpoint;
  const { failingShare, failingMinRequests, failingWindow } = settings;
  const wasFailing = endpoint.failing === true;
  const share = requests > 0 ? failures / requests : 0;
  if (!wasFailing) {
    const fails = failingShare > 0 && requests >= failingMinRequests && requests > 0 && share >= failingShare;
    return fails ? { id, accountId, failing: true, hasChanged: true } : undefined;
  }
  const isForgotten = now - (visitedAt?.getTime() ?? 0) >= failingWindow * UNVISITED_WINDOWS;
  const hasRecovered = requests > 0 ? share < failingShare * RECOVERED_PART : isForgotten;
  if (hasRecovered || failingShare === 0) return { id, accountId, failing: false, hasChanged: true };
  return requests > 0 ? { id, accountId, failing: true, hasChanged: false } : undefined;
}

async function writeVerdicts(db: Db, verdicts: readonly Verdict[], now: number): Promise<void> {
  const at = new Date(now);
  await db.$executeRaw`
    INSERT INTO endpoint_health AS h (endpoint_id, account_id, failing, since, visited_at)
    SELECT v.id, v.a, v.f, ${at}::timestamptz, ${at}::timestamptz
    FROM json_to_recordset(${JSON.stringify(verdicts.map(({ id, accountId: a, failing: f }) => ({ id, a, f })))}::json)
      AS v(id text, a text, f boolean)
    ON CONFLICT (endpoint_id) DO UPDATE SET visited_at = excluded.visited_at, failing = excluded.failing,
      since = CASE WHEN h.failing = excluded.failing THEN h.since ELSE excluded.since END`;
}

/** The state of endpoints that fail, or have failed within a day. */
export async function readHealth(
  db: Db,
  accountId: string,
  endpointIds: readonly string[],
): Promise<Map<string, { failing: boolean; since: Date }>> {
  const rows = await db.endpointHealth.findMany({
    where: { accountId, endpointId: { in: [...endpointIds] } },
    select: { endpointId: true, failing: true, since: true },
  });
  return new Map(rows.map(({ endpointId, ...state }) => [endpointId, state]));
}

/** How many endpoints of all accounts are there and fail. */
export async function countFailing(db: Db): Promise<number> {
  const [row] = await db.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM endpoint_health h JOIN endpoint e ON e.id = h.endpoint_id WHERE h.failing`;
  return row?.count ?? 0;
}
