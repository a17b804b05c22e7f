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
 * Looks up an endpoint of the account that this node serves.
 * @throws {ApiError} when the account has no such endpoint, or another node serves it.
 */
export async function requireServedEndpoint(
  context: Context,
  id: string,
): Promise<CapturableEndpoint & { proto: string }> {
  const where = { id, accountId: context.accountId, OR: [...(await servedOnLiveNodes(context)), { nodeId: null }] };
  const isAny = isId('ep', id);
  const row = isAny ? await context.db.endpoint.findFirst({ where, select: { proto: true, ...ownerSelect } }) : null;
  const { proto, tunnel } = requireFound(row, 'endpoint');
  if (!context.app.nodeCaptures().captures.endpoint(id)) throw new ApiError('capturedElsewhere');
  return { id, proto, ownerId: tunnel?.session.credential?.ownerId };
}

/** A captured request of the account. @throws {ApiError} when there is none, or the caller may not look at it. */
export async function requireCapturedRequest(context: Context, id: string): Promise<RequestCapture> {
  const kept = context.app.nodeCaptures().captures.get(id);
  const captured = requireFound(kept?.accountId === context.accountId ? kept : undefined, 'captured request');
  if (context.caller.isAdmin) return captured;
  const where = { id: captured.endpointId, accountId: context.accountId };
  const row = await context.db.endpoint.findFirst({ where, select: ownerSelect });
  checkMayViewCapture(context, { id: where.id, ownerId: row?.tunnel?.session.credential?.ownerId });
  return captured;
}

/**
 * Whether the caller may look at what is captured of an endpoint, change it, and send it again: what others switched on is
 * for admins, and for who holds the credential of the agent. Bodies and hidden values pass through the account's agents, and
 * a member may not act on those of others.
 */
export function mayViewCapture(context: Context, { id, ownerId }: CapturableEndpoint): boolean {
  const heldBy = context.app.nodeCaptures().captures.ownerOf(id);
  return heldBy === undefined || mayActFor(context, heldBy) || mayActFor(context, ownerId);
}

/** @throws {ApiError} when the caller may not. */
export function checkMayViewCapture(context: Context, served: CapturableEndpoint): void {
  if (!mayViewCapture(context, served)) throw new ApiError('notYourCapture');
}
