// Prisma on a pool of connections, wherever those lead.

import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts';

/** The database, or one transaction in it. */
export type Db = Prisma.TransactionClient;
export type { PrismaClient };

/** How long a transaction may wait for a connection, and how long it may take. Milliseconds. */
const TRANSACTION = { maxWait: 10_000, timeout: 20_000 };

/** @param onQuery hears of every statement: tests count them. */
export function openClient(pool: Pool, onQuery?: (statement: string) => void): PrismaClient {
  const adapter = new PrismaPg(pool, { disposeExternalPool: false });
  if (!onQuery) return new PrismaClient({ adapter, transactionOptions: TRANSACTION, log: [] });
  const client = new PrismaClient({
    adapter,
    transactionOptions: TRANSACTION,
    log: [{ emit: 'event', level: 'query' }],
  });
  client.$on('query', ({ query }) => onQuery(query));
  return client;
}
