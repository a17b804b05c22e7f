// The database's refusals, in the API's words.

import type { WriteAction } from '../store/changes/changes.ts';
import { isWriteConflict } from '../store/database/retry-on-conflict.ts';
import { Prisma } from '../store/generated/prisma/client.ts';
import { ApiError } from './errors/errors.ts';
import { nounOf } from './naming.ts';
import type { AuditedResource } from './resource.ts';

/** Prisma's codes: P2025 no such row, P2003 a foreign key refuses, P2002 a unique index refuses. */
export function translateWriteError(
  error: unknown,
  { kind, conflicts = {} }: AuditedResource,
  action: WriteAction,
): unknown {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return error;
  switch (error.code) {
    case 'P2025':
      return new ApiError('notFound', { kind: nounOf(kind) });
    case 'P2003':
      return action === 'DELETED'
        ? new ApiError(conflicts.inUse ?? 'inUse', { kind: nounOf(kind) })
        : new ApiError('changedMeanwhile');
    case 'P2002':
      return new ApiError(conflicts.taken ?? 'changedMeanwhile');
    default:
      return translateConflict(error);
  }
}

/** Of what only reads and adds, a transaction that was given up is all that the client can do anything about. */
export function translateConflict(error: unknown): unknown {
  return isWriteConflict(error) ? new ApiError('changedMeanwhile') : error;
}
