// The nodes (gateway processes) of a database. What a node serves counts only while its lease is valid.

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

/** What deleting the objects of nodes needs. Their end is announced like any other. */
export interface NodeDeps {
  prisma: PrismaClient;
  changes: Changes;
  /** The URL that the URIs in events begin with, without a slash at its end. */
  baseUrl(): string;
}

export interface NodeOptions {
  leaseMs: number;
  /** How long the addresses of a lost session are held for its credential, in milliseconds. */
  holdMs: number;
  /** The directory that stores the id of the node. */
  dataDir: string;
  /** Whether no other process can use this database, as with the embedded one. */
  isOnlyNode: boolean;
}

/**
 * Registers this process as a node and takes its lease. It deletes what the node left behind at its last run, and what nodes
 * with an ended lease left. Times are the database's, so that the clocks of nodes need not agree.
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
  // An ended lease cannot be renewed, because others may have taken over what the node served. The only node of a database has no
  // such limit. The renewal uses a connection of its own: a thousand binds must not delay it and so cost the node its lease.
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
      // Only one renewal at a time: a second one that joins again would delete the sessions accepted after the first.
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
 * Deletes nodes whose lease has ended, with everything that they served, and announces it once, however many nodes do this at the
 * same time. It is cheap when there are none, and is called as often as a lease is renewed.
 * @param holdMs how long the addresses are held for their credentials from the end of the lease.
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

/** Calls `sweepNodes`, and also deletes expired claims and offline endpoints. It is called at longer intervals. */
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

/** The ids of the nodes whose lease is valid by the database's clock. */
export async function liveNodes(db: Db): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`SELECT id FROM node WHERE lease_until > now()`;
  return rows.map(({ id }) => id);
}
