// Tasks that one node of all does at a time. Who holds the lease of a task does it; when that process dies, the lease ends.

import type { Db } from '../database/client.ts';

export type TrafficTaskName = 'minutes' | 'hours' | 'days' | 'health';

/** How long a lease is, in milliseconds: longer than a run of any task may take. */
const LEASE_MS = 30_000;

/** How far a task is done, and whether another process than this holds its lease. Nothing is written. */
export async function readTask(
  db: Db,
  name: TrafficTaskName,
  holder: string,
): Promise<{ until: number; isOthers: boolean }> {
  const [task] = await db.$queryRaw<{ until: Date; isOthers: boolean }[]>`
    SELECT until, holder <> ${holder} AND lease_until > now() AS "isOthers" FROM traffic_task WHERE name = ${name}`;
  return { until: task?.until.getTime() ?? 0, isOthers: task?.isOthers ?? false };
}

/**
 * Takes the lease of a task, or extends it.
 * @param holder the process.
 * @returns until when the task is done; undefined when another process holds the lease.
 */
export async function claimTask(db: Db, name: TrafficTaskName, holder: string): Promise<number | undefined> {
  const [task] = await db.$queryRaw<{ until: Date }[]>`
    INSERT INTO traffic_task AS t (name, until, holder, lease_until)
    VALUES (${name}, 'epoch', ${holder}, now() + ${LEASE_MS} * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
    WHERE t.holder = excluded.holder OR t.lease_until < now()
    RETURNING until`;
  return task?.until.getTime();
}

/**
 * Notes how far a task is done, in the transaction that did it.
 * @returns false when another process holds the lease by now: the transaction must be rolled back then.
 */
export async function noteDone(db: Db, name: TrafficTaskName, holder: string, until: number): Promise<boolean> {
  const noted = await db.$executeRaw`
    UPDATE traffic_task SET until = ${new Date(until)} WHERE name = ${name} AND holder = ${holder}`;
  return noted === 1;
}

/** Ends the leases of a process that stops. */
export async function releaseTasks(db: Db, holder: string): Promise<void> {
  await db.$executeRaw`UPDATE traffic_task SET lease_until = now() WHERE holder = ${holder} AND lease_until > now()`;
}
