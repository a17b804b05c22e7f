// What to do when two transactions are in each other's way.

import { setTimeout as wait } from 'node:timers/promises';
import { Prisma } from '../generated/prisma/client.ts';

const ATTEMPTS = 10;
/** The pause before the second attempt is at most so long, and twice as long before each further one; milliseconds. */
const PAUSE_MS = 5;
const PAUSE_MAX_MS = 250;

/**
 * Runs a transaction anew when the database gave it up for another one's sake: it would have to be asked again anyway.
 * Between two attempts is a pause of random length, so that those who were in each other's way do not meet again.
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

/** Somebody else was first with a unique value (P2002), or the transaction was given up. */
function isRetryable(error: unknown): boolean {
  return isWriteConflict(error) || isOf(error, 'P2002', 'UniqueConstraintViolation');
}

/** Whether the database gave a transaction up for another one's sake: a deadlock or a write conflict (P2034). */
export function isWriteConflict(error: unknown): boolean {
  return isOf(error, 'P2034', 'TransactionWriteConflict');
}

/** Whether something was to refer to a row that is not there (P2003). */
export function isMissingReference(error: unknown): boolean {
  return isOf(error, 'P2003', 'ForeignKeyConstraintViolation');
}

function isOf(error: unknown, code: string, kind: string): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return false;
  // Of a statement in SQL, only the adapter's word tells.
  const { cause } = (error.meta?.driverAdapterError ?? {}) as { cause?: { kind?: string } };
  return error.code === code || cause?.kind === kind;
}
