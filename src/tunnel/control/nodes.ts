// Which nodes there are. The control plane finds them in the database.

import { waitAtMost } from '../../runtime/wait-at-most.ts';
import type { NodeRef } from './routes.ts';

/** How long what was read is used, in milliseconds. */
const TTL_MS = 1000;
/** After so long, whoever waits for an answer goes on with the nodes that were known; milliseconds. */
const READ_LIMIT_MS = 500;

export interface NodeSource {
  /**
   * The other nodes that are alive and that this node can reach over links. It is read from the database once a second at most. It
   * never rejects: while the database does not answer, these are the nodes that were known before.
   */
  otherNodes(): Promise<readonly NodeRef[]>;
}

/** Makes a source of nodes. @param read reads the other nodes from the database. */
export function cachedNodeSource(read: () => Promise<readonly NodeRef[]>): NodeSource {
  let known: readonly NodeRef[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const refresh = async () => {
    const startedAt = performance.now();
    try {
      known = await read();
    } catch {
      // The database is away. The nodes that were known go on meanwhile.
    }
    readAt = startedAt;
  };

  return {
    async otherNodes() {
      if (performance.now() - readAt < TTL_MS) return known;
      reading ??= refresh().finally(() => {
        reading = undefined;
      });
      await waitAtMost(READ_LIMIT_MS, reading);
      return known;
    },
  };
}
