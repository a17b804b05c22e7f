// The backlog of events of all accounts in the database, for the operator's metrics.

import type { PrismaClient } from '../database/client.ts';

export interface Backlog {
  events: number;
  /** The stored size of the waiting batches. */
  bytes: number;
  /** How long the oldest batch has waited, in seconds; 0 when nothing waits. */
  age: number;
  deadLetters: number;
}

/** Reads the backlog. Callers at the same time share one statement. */
export function backlogOf(prisma: PrismaClient): () => Promise<Backlog> {
  let asked: Promise<Backlog> | undefined;
  return () => {
    asked ??= read(prisma).finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

async function read(prisma: PrismaClient): Promise<Backlog> {
  const [row] = await prisma.$queryRaw<[Backlog]>`
    SELECT coalesce(sum(count), 0)::float8 AS events, coalesce(sum(bytes), 0)::float8 AS bytes,
      coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age,
      (SELECT count(*) FROM event_dead_letter)::float8 AS "deadLetters"
    FROM event_batch`;
  return row;
}
