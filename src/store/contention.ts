// What to do when two transactions are in each other's way.

import { Prisma } from './generated/prisma/client.ts';

const ATTEMPTS = 10;

/** Runs a transaction anew when the database gave it up for another one's sake: it would have to be asked again anyway. */
export async function insistent<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === ATTEMPTS || !isContention(error)) throw error;
    }
  }
}

/** Prisma's codes: P2034 deadlock or write conflict, P2002 somebody else was first with a unique value. */
function isContention(error: unknown): boolean {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return false;
  if (error.code === 'P2034' || error.code === 'P2002') return true;
  // Of a statement in SQL, only the adapter's word tells.
  const { cause } = (error.meta?.driverAdapterError ?? {}) as { cause?: { kind?: string } };
  return cause?.kind === 'TransactionWriteConflict' || cause?.kind === 'UniqueConstraintViolation';
}
