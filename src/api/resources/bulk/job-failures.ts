// The objects that bulk jobs were refused for: a page of each job, in the order of their ids. Of all jobs of an answer they are read
// together.

import { Prisma } from '../../../store/generated/prisma/client.ts';
import { builder } from '../../builder/builder.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import { Node } from '../../collections/nodes.ts';
import type { ListOrder } from '../../collections/order.ts';
import {
  type ConnectionPage,
  connectionOf,
  type PageArguments,
  type PageQuery,
  readPage,
} from '../../collections/page.ts';
import { reference, WHEN_GONE } from '../../collections/references.ts';
import type { Context } from '../../context.ts';

interface Failure {
  /** That of the object. */
  id: string;
  message: string;
  code: string;
}

const BulkJobFailure = builder.objectRef<Failure>('BulkJobFailure').implement({
  description: 'An object that a job was refused to do something with.',
  fields: (t) => ({
    objectId: t.exposeID('id', { description: 'The id of the object.' }),
    object: t.field({
      type: Node,
      nullable: true,
      description: `The object. ${WHEN_GONE}`,
      resolve: reference(({ id }) => id),
    }),
    message: t.exposeString('message', { description: 'Why, as the mutation of one would say.' }),
    code: t.exposeString('code', { description: 'The number of the error, as in `ERR_GATEWAY_90020`.' }),
  }),
});

export const BulkJobFailureConnection = connectionOf(BulkJobFailure, 'BulkJobFailure', { isInRest: false });

const BY_OBJECT: ListOrder = { column: 'id', isNullable: false, holds: 'texts', direction: 'asc' };

const failuresOf = batchLoad<Failure[], PageQuery>(async ({ db, accountId }, jobIds, { where, orderBy, take }) => {
  const { lt, gt } = where.id ?? {};
  const beyond = Prisma.sql`object_id > ${gt ?? ''} ${lt === undefined ? Prisma.empty : Prisma.sql`AND object_id < ${lt}`}`;
  const order = Prisma.raw(orderBy[0]?.id === 'desc' ? 'DESC' : 'ASC');
  const rows = await db.$queryRaw<(Failure & { jobId: string })[]>`
    SELECT job.id AS "jobId", item.object_id AS id, item.message, item.code FROM bulk_job job
    CROSS JOIN LATERAL (
      SELECT object_id, message, code FROM bulk_job_item
      WHERE job_id = job.id AND state = 'FAILED' AND ${beyond} ORDER BY object_id ${order} LIMIT ${take}
    ) item
    WHERE job.account_id = ${accountId} AND job.id = ANY(${[...jobIds]}::text[]) ORDER BY item.object_id ${order}`;
  const byJob = new Map<string, Failure[]>();
  for (const { jobId, ...failure } of rows) byJob.set(jobId, [...(byJob.get(jobId) ?? []), failure]);
  return byJob;
});

/** A page of what a job was refused for. @throws {ApiError} when an argument cannot be used. */
export function readFailures(
  { id, failed }: { id: string; failed: number },
  args: PageArguments,
  context: Context,
): Promise<ConnectionPage> {
  return readPage(
    args,
    // Whoever starts a job may name what is no id.
    { prefix: null, path: '', order: BY_OBJECT },
    async (slice) => (await failuresOf(context, id, slice)) ?? [],
    async () => failed,
  );
}
