// The same answer to the same request, once more: for 24 hours, also after a restart.

import { createHash } from 'node:crypto';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { ApiError } from './errors.ts';

export const KEPT_MS = 24 * 60 * 60 * 1000;

/** The argument of every mutation that a REST POST names. */
export const keyed = builder.args((t) => ({
  idempotencyKey: t.string({
    description:
      'Any text of 1 to 255 printable characters. The same request with the same key, within 24 hours, gets the first ' +
      'answer again and does nothing; another request with the same key fails with `CONFLICT`.',
  }),
}));

/**
 * Runs an operation once per key and caller. Its answer is stored in the transaction of its writes: either both are
 * there or neither is. An operation that fails leaves the key unused.
 * @param request what must be the same for the answer to be the same.
 * @param run must reject when anything failed.
 */
export async function once<T extends object>(
  context: Context,
  key: string,
  request: string,
  run: (context: Context) => Promise<T>,
): Promise<T> {
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw new ApiError('badIdempotencyKey');
  const { app, caller } = context;
  const place = `idempotent_answer:${caller.ownerId}:${key}`;
  const fingerprint = createHash('sha256').update(request).digest('base64url');
  const id = { ownerId_key: { ownerId: caller.ownerId, key } };
  const createdAt = new Date(app.now());

  return context.inTransaction(async (transaction) => {
    const { db } = transaction;
    await db.idempotentAnswer.deleteMany({
      where: { ownerId: caller.ownerId, key, createdAt: { lte: new Date(app.now() - KEPT_MS) } },
    });
    // Waits for a request under way with the same key, and then finds its answer.
    const { count } = await db.idempotentAnswer.createMany({
      data: [{ ownerId: caller.ownerId, key, fingerprint, createdAt }],
      skipDuplicates: true,
    });
    if (count === 0) {
      const stored = await db.idempotentAnswer.findUnique({ where: id });
      if (!stored?.answer) throw new ApiError('changedMeanwhile');
      if (stored.fingerprint !== fingerprint) throw new ApiError('idempotencyKeyReused');
      return JSON.parse(app.keys.open(stored.answer, place)) as T;
    }
    const answer = await run(transaction);
    await db.idempotentAnswer.update({ where: id, data: { answer: app.keys.seal(JSON.stringify(answer), place) } });
    return answer;
  });
}
