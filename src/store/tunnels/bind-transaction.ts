// Transactions of binds, which are rolled back when the bind is refused.

import type { BindRequest } from '../../tunnel/control/registrar.ts';
import type { Proto } from '../../tunnel/endpoints/endpoint.ts';
import { type EndpointAddress, endpointAddress } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { toJsonRows } from '../database/json-rows.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Announce, RegistrarDeps } from './registrar-deps.ts';

/** Thrown to roll the transaction back. It carries the refusals of the batch. */
class Refused extends Error {
  readonly answer: object;

  constructor(answer: object) {
    super('refused');
    this.answer = answer;
  }
}

/** Runs a transaction. It is rolled back when its answer has `refused`. */
export async function inBindTransaction<Answer extends object>(
  { prisma, changes }: Pick<RegistrarDeps, 'prisma' | 'changes'>,
  work: (db: Db, announce: Announce) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await retryOnConflict(() =>
      changes.transaction(prisma, async (db, announce) => {
        const answer = await work(db, announce);
        if ('refused' in answer) throw new Refused(answer);
        return answer;
      }),
    );
  } catch (error) {
    if (error instanceof Refused) return error.answer as Answer;
    throw error;
  }
}

/** The credential that a bind is made with, as it is now. */
export interface BindContext {
  accountId: string;
  /** The id of the agent. */
  clientId: string;
  credentialId: string;
  acl: string[];
  /** Whether an edge serves the hostport, or a cloud endpoint that does not share it. */
  isOnEdge: boolean;
}

/** What is needed to load the context of a bind. */
export interface RequestedBind {
  sessionId: string;
  /** The hostport that an edge would have. */
  hostport: string;
  /** What it would be found by, of an internal endpoint without the account, with what it is; left out of labels. */
  address?: EndpointAddress;
  proto?: Proto;
  pooling?: boolean;
}

/** What is needed to load the contexts of these requests. */
export const requestedBind = (
  request: Pick<BindRequest, 'sessionId' | 'proto' | 'hostname' | 'port' | 'pooling'>,
  hostport: string,
): RequestedBind => ({
  sessionId: request.sessionId,
  hostport,
  address: endpointAddress({ accountId: '', ...request }),
  proto: request.proto,
  pooling: request.pooling,
});

/**
 * Whether a cloud endpoint is in the way: pooled ones share their address with endpoints of the same kind that are pooled, too.
 * @param columns the SQL for what the bind wants.
 */
export const isHeldInCloud = (columns: Record<'address' | 'accountId' | 'proto' | 'pooling', Prisma.Sql>) => Prisma.sql`
  EXISTS (SELECT 1 FROM cloud_url c WHERE c.address = ${columns.address} AND NOT (
    c.pooling AND ${columns.pooling} AND c.account_id = ${columns.accountId} AND c.proto = ${columns.proto}))`;

/**
 * The contexts of binds, in the given order; undefined when the session or its credential is gone, or the owner is inactive. The
 * credentials stay locked until the end of the transaction, so that a later change of one sees what was bound.
 */
export async function loadBindContexts(
  db: Db,
  requested: readonly RequestedBind[],
  nodeId: string,
): Promise<(BindContext | undefined)[]> {
  const wanted = requested.map(({ sessionId, ...bind }, place) => ({ session_id: sessionId, ...bind, place }));
  const inCloud = isHeldInCloud({
    address: Prisma.sql`replace(w.address, 'internal::', 'internal:' || s.account_id || ':')`,
    accountId: Prisma.sql`s.account_id`,
    proto: Prisma.sql`w.proto`,
    pooling: Prisma.sql`w.pooling`,
  });
  const rows = await db.$queryRaw<(BindContext & { place: number })[]>`
    SELECT w.place, s.account_id AS "accountId", s.client_id AS "clientId", c.id AS "credentialId", coalesce(c.acl, '{}') AS acl,
      EXISTS (SELECT 1 FROM edge_hostport e WHERE e.hostport = w.hostport) OR ${inCloud} AS "isOnEdge"
    FROM json_to_recordset(${toJsonRows(wanted)}::json) AS w(session_id text, hostport text, address text, proto text,
      pooling boolean, place int)
    JOIN tunnel_session s ON s.id = w.session_id
    JOIN credential c ON c.id = s.credential_id JOIN owner o ON o.id = c.owner_id
    WHERE s.node_id = ${nodeId} AND o.active
    ORDER BY c.id FOR SHARE OF c, o`;
  const contexts: (BindContext | undefined)[] = requested.map(() => undefined);
  for (const { place, ...context } of rows) contexts[place] = context;
  return contexts;
}
