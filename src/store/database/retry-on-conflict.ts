// Retries transactions that conflict with another one.

import { setTimeout as wait } from 'node:timers/promises';
import { Prisma } from '../generated/prisma/client.ts';

const ATTEMPTS = 10;
/** The pause before the second attempt is at most so long, and twice as long before each further one; milliseconds. */
const PAUSE_MS = 5;
const PAUSE_MAX_MS = 250;

/**
 * Runs a transaction, and runs it again when the database aborted it because of another one. Between two attempts is a random
 * delay, so that transactions that conflicted do not conflict again.
 * @param pause waits so many milliseconds.
 */
export async function retryOnConflict<T>(
  transaction: () => Promise<T>,
  pause: (ms: number) => Promise<unknown> = wait,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === ATTEMPTS || !isRetryable(error)) throw error;
    }
    await pause(Math.random() * Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (attempt - 1)));
  }
}

/** Another transaction wrote the same unique value first (P2002), or this one was aborted. */
function isRetryable(error: unknown): boolean {
  return isWriteConflict(error) || isOf(error, 'P2002', 'UniqueConstraintViolation');
}

/** Whether the database aborted a transaction because of another one: a deadlock or a write conflict (P2034). */
export function isWriteConflict(error: unknown): boolean {
  return isOf(error, 'P2034', 'TransactionWriteConflict');
}

/** Whether a foreign key refers to a row that does not exist (P2003). */
export function isMissingReference(error: unknown): boolean {
  return isOf(error, 'P2003', 'ForeignKeyConstraintViolation');
}

function isOf(error: unknown, code: string, kind: string): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return false;
  // For raw SQL, only the adapter's own error says what happened.
  const { cause } = (error.meta?.driverAdapterError ?? {}) as { cause?: { kind?: string } };
  return error.code === code || cause?.kind === kind;
}
