// Finds the other nodes of the cluster.

import { waitAtMost } from '../../runtime/wait-at-most.ts';
import type { NodeSource } from '../../tunnel/control/nodes.ts';
import type { NodeRef } from '../../tunnel/control/routes.ts';
import type { Db } from '../database/client.ts';

/** How long what was read is used, in milliseconds. */
const TTL_MS = 1000;
/** After so long, whoever waits for the database goes on with the nodes that were known; milliseconds. */
const READ_LIMIT_MS = 500;

export function createNodeSource(db: Db, ownId: string): NodeSource {
  let known: readonly NodeRef[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const read = async () => {
    const startedAt = performance.now();
    try {
      known = await db.$queryRaw<NodeRef[]>`
        SELECT id, address FROM node WHERE lease_until > now() AND address <> '' AND id <> ${ownId} ORDER BY id`;
    } catch {
      // The database is away. The nodes that were known go on meanwhile.
    }
    readAt = startedAt;
  };

  return {
    async otherNodes() {
      if (performance.now() - readAt < TTL_MS) return known;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await waitAtMost(READ_LIMIT_MS, reading);
      return known;
    },
  };
}
