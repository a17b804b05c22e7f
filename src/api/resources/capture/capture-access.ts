// Captured requests, and the endpoints that they came to, of the account that asks.

import type { RequestCapture } from '../../../capture/captured-request.ts';
import { isId } from '../../../store/ids.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { mayActFor } from '../accounts/owner.ts';
import { servedOnLiveNodes } from '../tunnels/live-tunnels.ts';

/** An endpoint that can be captured. */
export interface CapturableEndpoint {
  id: string;
  /** The owner of the credential of its agent; undefined for an edge, whose agents may be of many. */
  ownerId: string | undefined;
}

const ownerSelect = { tunnel: { select: { session: { select: { credential: { select: { ownerId: true } } } } } } };

/**
 * Looks up a live endpoint of the account.
 * @throws {ApiError} when the account has no such endpoint, or another node serves it to which there is no link.
 */
export async function requireServedEndpoint(
  context: Context,
  id: string,
): Promise<CapturableEndpoint & { proto: string }> {
  const where = { id, accountId: context.accountId, OR: [...(await servedOnLiveNodes(context)), { nodeId: null }] };
  const isAny = isId('ep', id);
  const row = isAny ? await context.db.endpoint.findFirst({ where, select: { proto: true, ...ownerSelect } }) : null;
  const { proto, tunnel } = requireFound(row, 'endpoint');
  const { captures, clusterCaptures } = context.app.nodeCaptures();
  if (!captures.endpoint(id) && !clusterCaptures.reachesNodes) throw new ApiError('capturedElsewhere');
  return { id, proto, ownerId: tunnel?.session.credential?.ownerId };
}

/** A captured request of the account. @throws {ApiError} when there is none, or the caller may not look at it. */
export async function requireCapturedRequest(context: Context, id: string): Promise<RequestCapture> {
  const { clusterCaptures } = context.app.nodeCaptures();
  const found = await clusterCaptures.find(id);
  const ref = requireFound(found?.accountId === context.accountId ? found : undefined, 'captured request');
  if (!context.caller.isAdmin) {
    const where = { id: ref.endpointId, accountId: context.accountId };
    const row = await context.db.endpoint.findFirst({ where, select: ownerSelect });
    const served = { id: where.id, ownerId: row?.tunnel?.session.credential?.ownerId };
    checkMayViewCapture(context, served, ref.heldBy === null ? [] : [ref.heldBy]);
  }
  const [captured] = await clusterCaptures.read([ref]);
  return requireFound(captured, 'captured request');
}

/**
 * Whether the caller may look at what is captured of an endpoint, change it, and send it again: what others switched on is
 * for admins, and for who holds the credential of the agent. Bodies and hidden values pass through the account's agents, and
 * a member may not act on those of others.
 * @param heldBy everybody who has switched it on, at any node.
 */
export function mayViewCapture(context: Context, { ownerId }: CapturableEndpoint, heldBy: readonly string[]): boolean {
  return heldBy.every((each) => mayActFor(context, each)) || mayActFor(context, ownerId);
}

/** @throws {ApiError} when the caller may not. */
export function checkMayViewCapture(context: Context, served: CapturableEndpoint, heldBy: readonly string[]): void {
  if (!mayViewCapture(context, served, heldBy)) throw new ApiError('notYourCapture');
}
