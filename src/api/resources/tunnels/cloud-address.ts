// The address that a cloud endpoint takes: a name that its account has reserved, a reserved TCP address, or an internal name. Nobody
// else serves it, unless all who do are pooled.

import type { Db } from '../../../store/database/client.ts';
import { reservedFor } from '../../../store/domains/reservations.ts';
import { servedAddresses } from '../../../store/tunnels/claims.ts';
import { type EndpointAddress, endpointAddress, isInternalName } from '../../../tunnel/endpoints/endpoint-registry.ts';
import { writtenBeside } from '../../as-written.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { type CloudUrl, normalUrl, readCloudUrl } from './cloud-urls.ts';

/** What clients write of the address; what is left out stays as it is. */
export interface AddressInput {
  url?: string | null;
  bindings?: readonly string[] | null;
  poolingEnabled?: boolean | null;
}

export interface AddressWriting {
  context: Context;
  db: Db;
  /** The row among the edges. */
  id: string;
  /** What it has now; undefined of a new one. */
  before: (CloudUrl & { pooling: boolean }) | undefined;
}

/** The port in the hostports of edges that are names. */
const EDGE_PORT = 443;

/** @throws {ApiError} when it is no URL that a cloud endpoint can have. */
export function readUrl(url: string): CloudUrl {
  const read = readCloudUrl(url);
  if (!read) throw new ApiError('endpointUrl', { member: 'url' });
  return read;
}

/**
 * Takes the address for the rest of the transaction, and writes it to the row.
 * @throws {ApiError} when it cannot be had.
 */
export async function writeAddress(writing: AddressWriting, input: AddressInput): Promise<void> {
  const { context, db, id, before } = writing;
  const { accountId } = context;
  const url = input.url == null ? before : readUrl(input.url);
  if (!url) throw new ApiError('endpointUrl', { member: 'url' });
  checkBindings(url, input.bindings);
  const pooling = input.poolingEnabled ?? before?.pooling ?? false;
  const isSame = before !== undefined && normalUrl(before) === normalUrl(url) && before.pooling === pooling;
  if (isSame && input.url == null) return;
  const { proto, hostname, port } = url;
  const columns = { accountId, proto, hostname, port, pooling, ...(await reservationOf(url, context, db)) };
  const address = endpointAddress(columns);
  if (!isSame) await checkFree(writing, columns, address);
  const written = input.url == null ? undefined : writtenBeside(normalUrl(url), input.url);
  const data = { ...columns, address, written };
  await db.edgeHostport.deleteMany({ where: { edgeId: id } });
  await db.cloudUrl.upsert({ where: { edgeId: id }, create: { ...data, edgeId: id }, update: data });
}

/** The name says who can reach it. */
function checkBindings({ hostname }: CloudUrl, bindings: AddressInput['bindings']): void {
  if (bindings == null || bindings.length === 0) return;
  const member = 'bindings';
  if (bindings.includes('kubernetes')) throw new ApiError('endpointKubernetes', { member });
  const binding = isInternalName(hostname) ? 'internal' : 'public';
  if (bindings.some((one) => one !== binding)) throw new ApiError('endpointBinding', { member, binding });
}

/** What of the account's reservations the address is; internal names need none. */
async function reservationOf({ proto, hostname, port }: CloudUrl, { accountId, app }: Context, db: Db) {
  const member = 'url';
  const none = { domainId: null, addressId: null };
  if (isInternalName(hostname)) return none;
  if (proto === 'tcp') {
    const row = await db.reservedAddress.findFirst({ where: { accountId, addr: `${hostname}:${port}` } });
    if (!row) throw new ApiError('hostportNoAddress', { member, host: app.config.baseDomain });
    return { ...none, addressId: row.id };
  }
  if (app.config.ownNames.has(hostname)) throw new ApiError('gatewayName', { member, domain: hostname });
  const domainId = await reservedFor(db, accountId, hostname);
  if (!domainId) throw new ApiError('hostportNotReserved', { member, domain: hostname });
  return { ...none, domainId };
}

type Wanted = CloudUrl & { accountId: string; pooling: boolean };

/** @throws {ApiError} when an edge has the address, or others serve it that do not share it. */
async function checkFree({ db, id }: AddressWriting, wanted: Wanted, address: EndpointAddress): Promise<void> {
  const { accountId, proto, hostname, port, pooling } = wanted;
  const member = 'url';
  const others = await servedAddresses(db, accountId, [address], id);
  const hostport = `${hostname}:${proto === 'tcp' ? port : EDGE_PORT}`;
  const select = { edgeId: true, edge: { select: { kind: true } } } as const;
  const holder = await db.edgeHostport.findUnique({ where: { hostport }, select });
  const isOther = holder !== null && holder.edgeId !== id;
  if (isOther && holder.edge.kind !== 'CLOUD') throw new ApiError('hostportTaken', { member, hostport });
  // A cloud endpoint of a version before, which has its hostport alone.
  const isBehindOther = isOther && proto !== 'http';
  const isShared = others.every(
    (other) => pooling && other.pooling && other.accountId === accountId && other.proto === proto,
  );
  if (isShared && !isBehindOther) return;
  throw new ApiError(pooling ? 'endpointServedAlone' : 'endpointServed', { member, url: normalUrl(wanted) });
}
