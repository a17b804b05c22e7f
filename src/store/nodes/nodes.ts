// The nodes (gateway processes) of a database. What a node serves counts only while its lease is valid.

import type { Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { Database } from '../database/open-database.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';
import { createReservationsLock } from '../domains/reservations.ts';
import type { NodeLease } from '../node-lease.ts';
import { sweepClaims } from '../tunnels/claims.ts';
import { deleteLapsedNodes, deleteNodes } from '../tunnels/delete-node.ts';
import { sweepOfflineEndpoints } from '../tunnels/offline-endpoints.ts';
import type { NodeId } from './node-id.ts';

/** A renewal is late after this part of a lease: one that was due after a third of it has failed. */
const LATE_PART = 2;
/**
 * How much longer than a lease the nodes have to renew theirs after the database was away; milliseconds. Their connections come back
 * at different times: an attempt may hang for seconds, as in a proxy that waits for a server which takes writes.
 */
const RETURN_MS = 5000;

/** What deleting the objects of nodes needs. Their end is announced like any other. */
export interface NodeDeps {
  prisma: PrismaClient;
  changes: Changes;
  /** The URL that the URIs in events begin with, without a slash at its end. */
  baseUrl(): string;
}

export interface NodeOptions {
  leaseMs: number;
  /** The last migration that this code knows. */
  migration: string;
  /** How long the addresses of a lost session are held for its credential, in milliseconds. */
  holdMs: number;
  /** The id of the node, which is released with the lease. */
  nodeId: NodeId;
  /** Whether no other process can use this database, as with the embedded one: all other nodes are of earlier runs then. */
  isOnlyNode: boolean;
}

/** The node of a worker, which goes on when the process that holds its lease is replaced. */
export interface AdoptionOptions extends Pick<NodeOptions, 'leaseMs' | 'migration' | 'holdMs'> {
  nodeId: string;
}

/**
 * Registers this process as a node and takes its lease. It deletes what the node left behind at its last run. Times are the
 * database's, so that the clocks of nodes need not agree.
 */
export async function joinNodes(parts: NodeDeps & Pick<Database, 'urgent'>, options: NodeOptions): Promise<NodeLease> {
  const { nodeId, ...more } = options;
  const lease = newLease(parts, { ...more, ...nodeId });
  await lease.take();
  await createReservationsLock(parts.prisma);
  await sweepExpiredAddresses(parts, lease, options.holdMs);
  return lease;
}

/**
 * Extends the lease of a node that another process held until now, or takes it.
 * @returns the lease, and whether the node was deleted meanwhile: all that it served is gone from the database then.
 */
export async function adoptNode(
  parts: NodeDeps & Pick<Database, 'urgent'>,
  { nodeId, ...options }: AdoptionOptions,
): Promise<{ lease: NodeLease; wasDeleted: boolean }> {
  const lease = newLease(parts, { ...options, id: nodeId, isOnlyNode: false, release: () => undefined });
  const wasDeleted = !(await lease.extend());
  if (wasDeleted) await lease.take();
  return { lease, wasDeleted };
}

interface LeaseOptions extends Omit<NodeOptions, 'nodeId'>, NodeId {}

function newLease(
  parts: NodeDeps & Pick<Database, 'urgent'>,
  { leaseMs, migration, holdMs, isOnlyNode, id, release }: LeaseOptions,
): NodeLease & { take(): Promise<void>; extend(): Promise<boolean> } {
  const { prisma: db, changes, baseUrl, urgent } = parts;
  /** Where other nodes reach this one; '' when they do not. */
  let ownAddress = '';
  const lapsed = new Set<() => void>();
  const revived = new Set<() => void>();

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
          INSERT INTO node (id, address, migration, lease_until)
          VALUES (${id}, ${ownAddress}, ${migration}, now() + ${leaseMs} * interval '1 millisecond')`;
      }),
    );
  // A lease that has ended is revived as long as its row exists: until another node has deleted it, nothing was taken over. The
  // renewal uses a connection of its own: a thousand binds must not delay it and so cost the node its lease.
  const extendLease = async () => {
    const extended = await urgent(
      "UPDATE node SET lease_until = now() + $1 * interval '1 millisecond', migration = $3 WHERE id = $2 RETURNING id",
      [leaseMs, id, migration],
    );
    return extended.rowCount === 1;
  };
  /**
   * Extends the leases of all nodes once. A node that was late itself does it first: the database may have been away, and then no
   * node could renew. The nodes that are alive renew within this time, and the others are deleted after it.
   */
  const extendAllLeases = () =>
    urgent(
      `UPDATE node SET lease_until = greatest(lease_until, now() + $1 * interval '1 millisecond')
       WHERE id IN (SELECT id FROM node FOR UPDATE SKIP LOCKED)`,
      [leaseMs + RETURN_MS],
    );

  let renewedAt = performance.now();
  /** Since when every renewal came in time. */
  let settlingSince = renewedAt;
  let renewal: Promise<void> | undefined;
  const renew = async () => {
    const startedAt = performance.now();
    const isLate = startedAt - renewedAt >= leaseMs / LATE_PART;
    if (isLate && !isOnlyNode) await extendAllLeases();
    const isExtended = await extendLease();
    if (!isExtended) await takeLease();
    const hadEnded = startedAt - renewedAt >= leaseMs;
    renewedAt = startedAt;
    if (isLate) settlingSince = startedAt;
    if (isExtended && !hadEnded) return;
    for (const listener of isExtended ? revived : lapsed) listener();
  };

  const lease: ReturnType<typeof newLease> = {
    id,
    take: takeLease,
    extend: extendLease,
    get renewedAt() {
      return renewedAt;
    },
    get isRecent() {
      return performance.now() - renewedAt < leaseMs / LATE_PART;
    },
    get isSettled() {
      return lease.isRecent && performance.now() - settlingSince >= leaseMs;
    },
    onLapse: (listener) => void lapsed.add(listener),
    onRevival: (listener) => void revived.add(listener),
    renew() {
      // Only one renewal at a time: a second one that joins again would delete the sessions accepted after the first.
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      return renewal;
    },
    async announceAddress(address) {
      ownAddress = address;
      await db.node.updateMany({ where: { id }, data: { address } });
    },
    async release() {
      await deleteEndedNodes(parts, [id], holdMs);
      release();
    },
  };
  return lease;
}

/** Deletes nodes of processes that have ended, with everything that they served. */
export function deleteEndedNodes(
  { prisma, changes, baseUrl }: NodeDeps,
  ids: readonly string[],
  holdMs: number,
): Promise<void> {
  return retryOnConflict(() =>
    changes.transaction(prisma, (db, announce) => deleteNodes({ db, announce, baseUrl: baseUrl() }, [...ids], holdMs)),
  );
}

/** Extends the leases of nodes that are alive while no process renews them. */
export async function extendLeases(db: Db, ids: readonly string[], leaseMs: number): Promise<void> {
  await db.$executeRaw`
    UPDATE node SET lease_until = now() + ${leaseMs} * interval '1 millisecond' WHERE id = ANY(${[...ids]})`;
}

/** The ids of all nodes. */
export async function allNodeIds(db: Db): Promise<string[]> {
  return (await db.node.findMany({ select: { id: true } })).map(({ id }) => id);
}

/**
 * Deletes nodes whose lease has ended, with everything that they served, and announces it once, however many nodes do this at the
 * same time. It is cheap when there are none, and is called as often as a lease is renewed. It does nothing while the own lease is
 * not settled: after the database was away, the leases of nodes that are alive have ended, too.
 * @param holdMs how long the addresses are held for their credentials from the end of the lease.
 */
export async function sweepNodes(
  { prisma, changes, baseUrl }: NodeDeps,
  own: Pick<NodeLease, 'id' | 'isSettled'>,
  holdMs: number,
): Promise<void> {
  const lapsed = async () => {
    const rows = await prisma.$queryRaw<object[]>`
      SELECT id FROM node WHERE id <> ${own.id} AND lease_until <= now() LIMIT 1`;
    return rows.length > 0;
  };
  const deleteNext = () =>
    retryOnConflict(() =>
      changes.transaction(
        prisma,
        async (db, announce) =>
          own.isSettled && deleteLapsedNodes({ db, announce, baseUrl: baseUrl() }, own.id, holdMs),
      ),
    );
  while (own.isSettled && (await lapsed()) && (await deleteNext()));
}

/** Calls `sweepNodes`, and also deletes expired claims and offline endpoints. It is called at longer intervals. */
export async function sweepExpiredAddresses(
  parts: NodeDeps,
  own: Pick<NodeLease, 'id' | 'isSettled'>,
  holdMs: number,
): Promise<void> {
  const { prisma, changes } = parts;
  await sweepNodes(parts, own, holdMs);
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
