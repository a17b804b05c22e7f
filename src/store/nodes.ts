// Gateway processes as the database knows them. What a node serves counts only while its lease holds.

import type { Db, PrismaClient } from './client.ts';
import { newId } from './ids.ts';

export interface NodeLease {
  id: string;
  /** Extends the lease. It must be called more often than the lease is long. */
  renew(): Promise<void>;
  /** Ends the lease, and with it everything the node served. */
  release(): Promise<void>;
}

/**
 * Registers this process and takes its lease. Times are the database's own, so that clocks need not agree.
 * What nodes left behind whose lease ended long ago is cleared away.
 */
export async function joinNodes(db: PrismaClient, leaseMs: number): Promise<NodeLease> {
  const id = newId('node');
  const renew = async () => {
    await db.$executeRaw`
      INSERT INTO node (id, lease_until) VALUES (${id}, now() + ${leaseMs} * interval '1 millisecond')
      ON CONFLICT (id) DO UPDATE SET lease_until = EXCLUDED.lease_until`;
  };
  await renew();
  await db.$executeRaw`DELETE FROM node WHERE lease_until < now() - interval '1 minute'`;
  return { id, renew, release: async () => void (await db.node.deleteMany({ where: { id } })) };
}

/** The nodes whose lease holds, by the database's clock. */
export async function liveNodes(db: Db): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`SELECT id FROM node WHERE lease_until > now()`;
  return rows.map(({ id }) => id);
}
