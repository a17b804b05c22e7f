// What waits in the database, of all accounts: for the operator.

import type { PrismaClient } from '../database/client.ts';

export interface Backlog {
  events: number;
  /** As they are stored. */
  bytes: number;
  /** How long the oldest has waited; seconds, 0 when nothing waits. */
  age: number;
  deadLetters: number;
}

/** Who ask at the same time share one statement. */
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
