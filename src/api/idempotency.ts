// Idempotency keys: the same request with the same key gets the first response again, for 24 hours, also after a restart.

import { createHash } from 'node:crypto';
import { builder } from './builder/builder.ts';
import type { Context } from './context.ts';
import { ApiError } from './errors/errors.ts';

export const RETENTION_MS = 24 * 60 * 60 * 1000;

/** The argument of every mutation that a REST POST names. */
export const idempotencyKeyArgument = builder.args((t) => ({
  idempotencyKey: t.string({
    description:
      'Any text of 1 to 255 printable characters. The same request with the same key, within 24 hours, gets the first ' +
      'answer again and does nothing; another request with the same key fails with `CONFLICT`.',
  }),
}));

/** How long an operation that waits for others may be under way: one that began earlier never came to an end. */
const IN_PROGRESS_MAX_MS = 60_000;

type Run<T> = (context: Context) => Promise<T>;

/**
 * Runs an operation once per key and caller. Its answer is stored in the transaction of its writes: either both are
 * there or neither is. An operation that fails leaves the key unused.
 * @param request what must be the same for the answer to be the same.
 * @param run must reject when anything failed.
 */
export async function idempotent<T extends object>(
  context: Context,
  key: string,
  request: string,
  run: Run<T>,
): Promise<T> {
  const keyedRequest = keyedRequestOf(context, key, request);
  return context.inTransaction(async (transaction) => {
    const stored = await claimKey<T>(transaction, keyedRequest);
    if (stored) return stored;
    const response = await run(transaction);
    await storeResponse(transaction, keyedRequest, response);
    return response;
  });
}

/**
 * The same for an operation that writes nothing and waits for somebody else: it runs outside of any transaction, which
 * would keep others waiting with it. The same request fails with `CONFLICT` while the first is under way.
 */
export async function idempotentOutsideTransaction<T extends object>(
  context: Context,
  key: string,
  request: string,
  run: Run<T>,
): Promise<T> {
  const keyedRequest = keyedRequestOf(context, key, request);
  const stored = await context.inTransaction((transaction) => claimKey<T>(transaction, keyedRequest));
  if (stored) return stored;
  try {
    const response = await run(context);
    await storeResponse(context, keyedRequest, response);
    return response;
  } catch (error) {
    await context.db.idempotentAnswer.deleteMany({ where: keyedRequest.id });
    throw error;
  }
}

/** A request with an idempotency key: what its stored response is found and checked by. */
interface KeyedRequest {
  id: { ownerId: string; key: string };
  fingerprint: string;
  /** What the answer's encryption is bound to. */
  sealedFor: string;
}

/** @throws {ApiError} when the key is not one. */
function keyedRequestOf({ caller }: Context, key: string, request: string): KeyedRequest {
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw new ApiError('badIdempotencyKey');
  return {
    id: { ownerId: caller.ownerId, key },
    fingerprint: createHash('sha256').update(request).digest('base64url'),
    sealedFor: `idempotent_answer:${caller.ownerId}:${key}`,
  };
}

/**
 * Takes the key for this request, in a transaction.
 * @returns the answer that was given before; undefined when it is to be made now.
 * @throws {ApiError} when the key is another request's, or the first one is under way.
 */
async function claimKey<T extends object>({ db, app }: Context, keyedRequest: KeyedRequest): Promise<T | undefined> {
  const before = (ms: number) => ({ createdAt: { lte: new Date(app.now() - ms) } });
  await db.idempotentAnswer.deleteMany({
    where: { ...keyedRequest.id, OR: [before(RETENTION_MS), { answer: null, ...before(IN_PROGRESS_MAX_MS) }] },
  });
  // Waits for a transaction under way with the same key, and then finds its answer.
  const { count } = await db.idempotentAnswer.createMany({
    data: [{ ...keyedRequest.id, fingerprint: keyedRequest.fingerprint, createdAt: new Date(app.now()) }],
    skipDuplicates: true,
  });
  if (count > 0) return undefined;
  const stored = await db.idempotentAnswer.findUnique({ where: { ownerId_key: keyedRequest.id } });
  if (!stored) throw new ApiError('changedMeanwhile');
  if (stored.fingerprint !== keyedRequest.fingerprint) throw new ApiError('idempotencyKeyReused');
  if (!stored.answer) throw new ApiError('idempotencyKeyUnderWay');
  return JSON.parse(app.keys.open(stored.answer, keyedRequest.sealedFor)) as T;
}

async function storeResponse({ db, app }: Context, { id, sealedFor }: KeyedRequest, response: object): Promise<void> {
  const sealed = app.keys.seal(JSON.stringify(response), sealedFor);
  await db.idempotentAnswer.update({ where: { ownerId_key: id }, data: { answer: sealed } });
}
