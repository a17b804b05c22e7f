// The database's refusals, in the API's words.

import type { Action } from '../store/changes.ts';
import { Prisma } from '../store/generated/prisma/client.ts';
import { ApiError, type ErrorName } from './errors.ts';
import { nounOf } from './nouns.ts';

const inUse: Partial<Record<string, ErrorName>> = {
  reservedDomain: 'domainInUse',
  tunnelGroupBackend: 'backendInUse',
  eventDestination: 'destinationInUse',
  ipPolicy: 'ipPolicyInUse',
};

const taken: Partial<Record<string, ErrorName>> = {
  botUser: 'botNameTaken',
  user: 'emailTaken',
  reservedDomain: 'domainReservedByYou',
  httpsEdgeRoute: 'routeMatchTaken',
  ipPolicyRule: 'cidrTaken',
};

/** Prisma's codes: P2025 no such row, P2003 a foreign key refuses, P2002 a unique index refuses, P2034 write conflict. */
export function translateWriteError(error: unknown, kind: string, action: Action): unknown {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return error;
  switch (error.code) {
    case 'P2025':
      return new ApiError('notFound', { thing: nounOf(kind) });
    case 'P2003':
      return action === 'DELETED'
        ? new ApiError(inUse[kind] ?? 'inUse', { thing: nounOf(kind) })
        : new ApiError('changedMeanwhile');
    case 'P2002':
      return new ApiError(taken[kind] ?? 'changedMeanwhile');
    case 'P2034':
      return new ApiError('changedMeanwhile');
    default:
      return error;
  }
}
