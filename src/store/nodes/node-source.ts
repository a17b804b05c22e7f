// Finds the other nodes of the cluster.

import { cachedNodeSource, type NodeSource } from '../../tunnel/control/nodes.ts';
import type { NodeRef } from '../../tunnel/control/routes.ts';
import type { Db } from '../database/client.ts';

/** Reads the nodes that are alive and that a node can reach: those with links, and those with a socket in this directory. */
export async function findOtherNodes(db: Db, ownId: string, localDirectory: string | undefined): Promise<NodeRef[]> {
  const local = localDirectory === undefined ? '' : `unix:${localDirectory}/`;
  return db.$queryRaw<NodeRef[]>`
    SELECT id, address FROM node WHERE lease_until > now() AND address <> '' AND id <> ${ownId}
      AND (NOT starts_with(address, 'unix:') OR (${local} <> '' AND starts_with(address, ${local}))) ORDER BY id`;
}

export function createNodeSource(db: Db, ownId: string, localDirectory: string | undefined): NodeSource {
  return cachedNodeSource(() => findOtherNodes(db, ownId, localDirectory));
}
