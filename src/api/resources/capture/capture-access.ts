// What can be captured, captured requests, and who of the account that asks may look at them.

import type { RequestCapture } from '../../../capture/captured-request.ts';
import type { CaptureRef } from '../../../capture/cluster-captures.ts';
import type { CaptureTarget } from '../../../capture/stored-capture.ts';
import { isId } from '../../../store/ids.ts';
import { endpointAddress } from '../../../tunnel/endpoints/endpoint-registry.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { mayActFor } from '../accounts/owner.ts';
import { servedOnLiveNodes } from '../tunnels/live-tunnels.ts';

/** An address that can be captured. */
export interface Capturable extends CaptureTarget {
  /** Of the endpoint that was asked for: `ep_…`, or `oep_…` of an address that is offline. */
  id: string;
  kind: 'endpoint' | 'offlineEndpoint';
  proto: string;
  publicUrl: string;
  /** The endpoints that serve it now. */
  servedBy: readonly string[];
  /** The owner of the credential of its agents; undefined for an edge, and where agents of several owners share the address. */
  ownerId: string | undefined;
}

type Row = { proto: string; publicUrl: string; hostport: string };

const ownerSelect = { tunnel: { select: { session: { select: { credential: { select: { ownerId: true } } } } } } };

/**
 * Looks up an endpoint of the account, live or offline.
 * @throws {ApiError} when the account has no such endpoint, or another node serves it to which there is no link.
 */
export async function requireCapturable(context: Context, id: string): Promise<Capturable> {
  const { db, accountId } = context;
  if (isId('oep', id)) return requireOffline(context, id);
  const where = { id, accountId, OR: [...(await servedOnLiveNodes(context)), { nodeId: null }] };
  const select = { proto: true, publicUrl: true, hostport: true } as const;
  const row = isId('ep', id) ? await db.endpoint.findUnique({ where, select }) : null;
  const found = requireFound(row, 'endpoint');
  const { captures, clusterCaptures } = context.app.nodeCaptures();
  if (!captures.endpoint(id) && !clusterCaptures.reachesNodes) throw new ApiError('capturedElsewhere');
  const target = targetOfRow(accountId, found);
  const { servedBy, ownerId } = await serving(context, target.address);
  return { ...target, ...found, id, kind: 'endpoint', servedBy: [...servedBy, id], ownerId };
}

async function requireOffline({ db, accountId }: Context, id: string): Promise<Capturable> {
  const select = { proto: true, publicUrl: true, hostport: true, credentialId: true } as const;
  const row = requireFound(await db.offlineEndpoint.findUnique({ where: { id, accountId }, select }), 'endpoint');
  const { credentialId } = row;
  const credential =
    credentialId === null ? null : await db.credential.findUnique({ where: { id: credentialId, accountId } });
  const target = targetOfRow(accountId, row);
  return { ...target, ...row, id, kind: 'offlineEndpoint', servedBy: [], ownerId: credential?.ownerId };
}

function targetOfRow(accountId: string, { proto, hostport }: Row): CaptureTarget {
  const colon = hostport.lastIndexOf(':');
  const [hostname, port] = [hostport.slice(0, colon), Number(hostport.slice(colon + 1))];
  return { accountId, address: endpointAddress({ accountId, proto: proto as 'http', hostname, port }) };
}

/** The endpoints of tunnels that serve an address, and the owner of all their credentials, if they have the same one. */
async function serving({ db, accountId }: Context, address: string) {
  const rows = await db.endpoint.findMany({ where: { accountId, address }, select: { id: true, ...ownerSelect } });
  const owners = new Set(rows.map(({ tunnel }) => tunnel?.session.credential?.ownerId));
  return { servedBy: rows.map(({ id }) => id), ownerId: owners.size === 1 ? [...owners][0] : undefined };
}

/** A captured request of the account. @throws {ApiError} when there is none, or the caller may not look at it. */
export async function requireCapturedRequest(context: Context, id: string): Promise<RequestCapture> {
  const { clusterCaptures } = context.app.nodeCaptures();
  const found = await clusterCaptures.find(id);
  const ref = requireFound(found?.accountId === context.accountId ? found : undefined, 'captured request');
  if (!context.caller.isAdmin && !mayViewRequest(context, await serving(context, ref.address), ref))
    throw new ApiError('notYourCapture');
  const [captured] = await clusterCaptures.read([ref]);
  return requireFound(captured, 'captured request');
}

/** Those of captured requests that the account has, and the caller may look at. */
export async function findCapturedRequests(context: Context, ids: readonly string[]): Promise<RequestCapture[]> {
  const { clusterCaptures } = context.app.nodeCaptures();
  const found = await Promise.all(ids.map((id) => clusterCaptures.find(id)));
  const refs = found.filter((ref) => ref?.accountId === context.accountId) as CaptureRef[];
  if (context.caller.isAdmin) return clusterCaptures.read(refs);
  const addresses = [...new Set(refs.map(({ address }) => address))];
  const served = new Map(
    await Promise.all(addresses.map(async (address) => [address, await serving(context, address)] as const)),
  );
  return clusterCaptures.read(
    refs.filter((ref) => mayViewRequest(context, served.get(ref.address) ?? { ownerId: undefined, servedBy: [] }, ref)),
  );
}

/**
 * Whether the caller may look at what is captured at an address, change it, and send it again: what others switched on is
 * for admins, and for who holds the credential of the agent. Bodies and hidden values pass through the account's agents, and
 * a member may not act on those of others.
 * @param heldBy everybody who has switched it on, at any node.
 */
export function mayViewCapture(
  context: Context,
  { ownerId }: Pick<Capturable, 'ownerId'>,
  heldBy: readonly string[],
): boolean {
  return heldBy.every((each) => mayActFor(context, each)) || mayActFor(context, ownerId);
}

/** @throws {ApiError} when the caller may not. */
export function checkMayViewCapture(context: Context, served: Capturable, heldBy: readonly string[]): void {
  if (!mayViewCapture(context, served, heldBy)) throw new ApiError('notYourCapture');
}

/** The same of one captured request: who holds the credential of the agent now may not look at what passed through an earlier one. */
export function mayViewRequest(
  context: Context,
  { ownerId, servedBy }: Pick<Capturable, 'ownerId' | 'servedBy'>,
  { heldBy, endpointId }: Pick<CaptureRef, 'heldBy' | 'endpointId'>,
): boolean {
  if (heldBy === null || mayActFor(context, heldBy)) return true;
  return servedBy.includes(endpointId) && mayActFor(context, ownerId);
}
