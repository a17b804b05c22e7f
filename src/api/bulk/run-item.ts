// One object of a bulk job: changed in one transaction with the note that it was, with the rights of who started the job.

import { type BulkItem, type BulkJob, claimItem, type ItemOutcome, settleItem } from '../../store/bulk/bulk-jobs.ts';
import type { Prisma } from '../../store/generated/prisma/client.ts';
import type { Caller } from '../caller.ts';
import { type BulkAction, type BulkParameters, bulkOperationOf } from '../collections/bulk-operations.ts';
import { type ApiApp, Context } from '../context.ts';
import type { ApiClient } from '../dependencies.ts';
import { ApiError } from '../errors/errors.ts';

/** Nobody has begun it in a browser: the job goes on when the browser is gone. */
const clientOf = ({ ip, userAgent }: BulkJob): ApiClient => ({
  ip,
  userAgent,
  isLoopback: false,
  signInRefusal: new ApiError('signInNotOffered'),
  sessionId: undefined,
  lastEventId: undefined,
  eventId: undefined,
  onDisconnect: () => () => {},
  checkMaySignIn() {
    throw new ApiError('signInNotOffered');
  },
  setSession() {},
  passkeyChallenge: undefined,
  setPasskeyChallenge() {},
  recordSignIn() {},
});

/** The rights that who started the job has now. @throws {ApiError} when there are none left. */
async function callerOf(app: ApiApp, { accountId, actorId, keyId, sessionId }: BulkJob): Promise<Caller> {
  const where = { id: actorId, accountId, active: true };
  const owner = await app.prisma.owner.findUnique({ where, select: { role: true, subject: true } });
  const isInForce = { OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(app.now()) } }] };
  const isKeyGone =
    keyId !== null && (await app.prisma.apiKey.count({ where: { id: keyId, accountId, ...isInForce } })) === 0;
  if (!owner || isKeyGone) throw new ApiError('bulkActorGone');
  const { role, subject } = owner;
  const by = { keyId: keyId ?? undefined, sessionId: sessionId ?? undefined };
  return { accountId, ownerId: actorId, subject, isAdmin: role === 'ADMIN', ...by };
}

/**
 * @returns false when it was done before, or the job has been cancelled.
 * @throws {ApiError} when the object is refused. Nothing is changed then, and the object is not done.
 */
export async function runItem(app: ApiApp, job: BulkJob, { objectId, before }: BulkItem): Promise<boolean> {
  const caller = await callerOf(app, job);
  const operation = bulkOperationOf(job.kind, job.action as BulkAction);
  if (!operation) throw new ApiError('bulkNotOffered', { list: job.list, action: job.action, offered: 'none' });
  if (operation.adminsOnly && !caller.isAdmin) throw new ApiError(operation.adminsOnly);
  const { ownerId, removeLabels } = job;
  const parameters: BulkParameters = { ownerId, removeLabels, setLabels: job.setLabels as Record<string, string> };
  const context = new Context(app, job.operationId, job.baseUrl, caller, clientOf(job));
  return context.inTransaction(async (within) => {
    if (!(await claimItem(within.db, job, objectId))) return false;
    await settleItem(within.db, job, objectId, await runOperation(within));
    return true;
  });

  async function runOperation(within: Context): Promise<ItemOutcome> {
    if (job.undoOfId !== null) {
      const isUndone = await operation?.undo?.(within, objectId, before, parameters);
      return { state: isUndone ? 'DONE' : 'SKIPPED' };
    }
    const had = await operation?.apply(within, objectId, parameters);
    return had === null ? { state: 'SKIPPED' } : { state: 'DONE', before: had as Prisma.InputJsonValue | undefined };
  }
}
