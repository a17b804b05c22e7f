// Gateway processes as the database knows them. What a node serves counts only while its lease holds.

import type { Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { Database } from '../database/open-database.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';
import { createReservationsLock } from '../domains/reservations.ts';
import { newId } from '../ids.ts';
import type { NodeLease } from '../node-lease.ts';
import { sweepClaims } from '../tunnels/claims.ts';
import { deleteLapsedNodes, deleteNodes } from '../tunnels/delete-node.ts';
import { sweepOfflineEndpoints } from '../tunnels/offline-endpoints.ts';
import { takeNodeId } from './node-id.ts';

/** What clearing away takes: it is told of like any other end. */
export interface NodeDeps {
  prisma: PrismaClient;
  changes: Changes;
  /** What the URIs in events begin with: no slash at its end. */
  baseUrl(): string;
}

export interface NodeOptions {
  leaseMs: number;
  /** How long the addresses of a lost session stay reserved for its credential; milliseconds. */
  holdMs: number;
  /** Where the id is kept. */
  dataDir: string;
  /** Whether no other process can be on this database, which is so for the embedded one. */
  isOnlyNode: boolean;
}

/**
 * Registers this process and takes its lease. What it left behind the last time is cleared away, and what nodes did
 * whose lease has ended. Times are the database's own, so that clocks need not agree.
 */
export async function joinNodes(parts: NodeDeps & Pick<Database, 'urgent'>, options: NodeOptions): Promise<NodeLease> {
  const { prisma: db, changes, baseUrl, urgent } = parts;
  const { leaseMs, holdMs, dataDir, isOnlyNode } = options;
  const { id, release } = isOnlyNode ? { id: newId('node'), release: () => undefined } : takeNodeId(dataDir);
  const lapsed = new Set<() => void>();

  const takeLease = () =>
    retryOnConflict(() =>
      changes.transaction(db, async (tx, announce) => {
        const all = isOnlyNode ? await tx.node.findMany({ select: { id: true } }) : [{ id }];
        await deleteNodes(
          { db: tx, announce, baseUrl: baseUrl() },
          all.map((node) => node.id),
          holdMs,
        );
        await tx.$executeRaw`
          INSERT INTO node (id, lease_until) VALUES (${id}, now() + ${leaseMs} * interval '1 millisecond')`;
      }),
    );
  // Whose lease has ended does not get it back: others may have taken what it served. One that is alone may stand still for
  // as long as it likes. It waits for no other statement: a thousand binds must not cost what is bound already.
  const extendLease = () =>
    urgent(
      `UPDATE node SET lease_until = now() + $1 * interval '1 millisecond'
       WHERE id = $2 AND ($3::boolean OR lease_until > now())`,
      [leaseMs, id, isOnlyNode],
    );

  let renewedAt = performance.now();
  let renewal: Promise<void> | undefined;
  const renew = async () => {
    const startedAt = performance.now();
    const isExtended = (await extendLease()).rowCount === 1;
    if (!isExtended) await takeLease();
    renewedAt = startedAt;
    if (isExtended) return;
    for (const listener of lapsed) listener();
  };

  await takeLease();
  await createReservationsLock(db);
  await sweepExpiredAddresses(parts, id, holdMs);
  return {
    id,
    get renewedAt() {
      return renewedAt;
    },
    onLapse: (listener) => void lapsed.add(listener),
    renew() {
      // One at a time: a second one that begins anew would forget what the first one has let in.
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      return renewal;
    },
    async release() {
      await retryOnConflict(() =>
        changes.transaction(db, (tx, announce) => deleteNodes({ db: tx, announce, baseUrl: baseUrl() }, [id], holdMs)),
      );
      release();
    },
  };
}

/**
 * Clears away nodes whose lease has ended, with all that they served, and tells of it: once, however many nodes do this at
 * the same instant. Cheap where there are none; to be called as often as a lease is renewed.
 * @param holdMs how long from the end of the lease the addresses stay reserved for their credentials.
 */
export async function sweepNodes({ prisma, changes, baseUrl }: NodeDeps, ownId: string, holdMs: number): Promise<void> {
  const lapsed = async () => {
    const rows = await prisma.$queryRaw<object[]>`
      SELECT id FROM node WHERE id <> ${ownId} AND lease_until <= now() LIMIT 1`;
    return rows.length > 0;
  };
  const deleteNext = () =>
    retryOnConflict(() =>
      changes.transaction(prisma, (db, announce) =>
        deleteLapsedNodes({ db, announce, baseUrl: baseUrl() }, ownId, holdMs),
      ),
    );
  while ((await lapsed()) && (await deleteNext()));
}

/** The same, and clears away addresses that are not kept or not remembered any more. To be called now and then. */
export async function sweepExpiredAddresses(parts: NodeDeps, ownId: string, holdMs: number): Promise<void> {
  const { prisma, changes } = parts;
  await sweepNodes(parts, ownId, holdMs);
  await retryOnConflict(() =>
    changes.transaction(prisma, async (tx, announce) => {
      await sweepClaims(tx);
      await sweepOfflineEndpoints({ db: tx, announce });
    }),
  );
}

/** The nodes whose lease holds, by the database's clock. */
export async function liveNodes(db: Db): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`SELECT id FROM node WHERE lease_until > now()`;
  return rows.map(({ id }) => id);
}
