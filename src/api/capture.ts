// Captured requests, and the endpoints that they came to, of the account that asks.

import type { Captured } from '../edge/capture/captured.ts';
import { isId } from '../store/ids.ts';
import type { Context } from './context.ts';
import { ApiError, found } from './errors.ts';
import { ofLiveNodes } from './live.ts';

/**
 * Looks up an endpoint of the account that this node serves.
 * @throws {ApiError} when the account has no such endpoint, or another node serves it.
 */
export async function servedHere(context: Context, id: string): Promise<{ id: string; proto: string }> {
  const where = { id, accountId: context.accountId, OR: [await ofLiveNodes(context), { nodeId: null }] };
  const isAny = isId('ep', id);
  const row = isAny ? await context.db.endpoint.findFirst({ where, select: { id: true, proto: true } }) : null;
  const endpoint = found(row, 'endpoint');
  if (!context.app.capture().captures.endpoint(id)) throw new ApiError('capturedElsewhere');
  return endpoint;
}

/** A captured request of the account. @throws {ApiError} when there is none. */
export function capturedHere(context: Context, id: string): Captured {
  const captured = context.app.capture().captures.get(id);
  return found(captured?.accountId === context.accountId ? captured : undefined, 'captured request');
}
