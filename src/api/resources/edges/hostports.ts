// The hostports of an edge: names and ports, or TCP addresses, that its account has reserved, and that no other edge answers and no
// agent and no cloud endpoint serves.

import type { Db } from '../../../store/database/client.ts';
import { reservedFor } from '../../../store/domains/reservations.ts';
import { servedNames, servedPorts } from '../../../store/tunnels/claims.ts';
import { writtenBeside } from '../../as-written.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';

const HOSTPORTS_MAX = 100;
const PORT_MAX = 65_535;
/** The one port that edges answer on, whatever port the listener is bound to. */
const EDGE_PORT = 443;

type HostKind = 'httpsEdge' | 'tlsEdge' | 'tcpEdge';

/**
 * What to write to an edge's row for its new list of hostports; undefined leaves the list as it is.
 * @param edgeId the edge that may have some of them already.
 * @throws {ApiError} naming those that cannot be had.
 */
export async function writeHostports(
  kind: HostKind,
  given: string[] | null | undefined,
  context: Context,
  db: Db,
  edgeId: string,
) {
  if (given == null) return undefined;
  if (given.length > HOSTPORTS_MAX) throw new ApiError('tooManyHostports', { member: 'hostports', max: HOSTPORTS_MAX });
  const create =
    kind === 'tcpEdge' ? await addressesOf(given, context, db, edgeId) : await namesOf(given, context, db, edgeId);
  return { deleteMany: {}, create };
}

async function namesOf(given: string[], { accountId, app }: Context, db: Db, edgeId: string) {
  const create: { hostport: string; written: string | null; domainId: string; position: number }[] = [];
  const wanted = new Map<string, string>();
  const readName = async (text: string, position: number) => {
    const member = `hostports[${position}]`;
    const { domain, hostport } = readHostport(text, member);
    if (app.config.ownNames.has(domain)) throw new ApiError('gatewayName', { member, domain });
    if (create.some((other) => other.hostport === hostport)) throw new ApiError('hostportRepeated', { member });
    const domainId = await reservedFor(db, accountId, domain);
    if (!domainId) throw new ApiError('hostportNotReserved', { member, domain });
    const holder = await db.edgeHostport.findUnique({ where: { hostport }, select: { edgeId: true } });
    if (holder && holder.edgeId !== edgeId) throw new ApiError('hostportTaken', { member, hostport });
    if (!holder) wanted.set(domain, member);
    create.push({ hostport, written: writtenBeside(hostport, text), domainId, position });
  };
  const checkServed = async () =>
    checkEach([...(await servedNames(db, accountId, [...wanted.keys()]))], ([domain, by]) => {
      const member = wanted.get(domain) ?? 'hostports';
      throw by === 'agent'
        ? new ApiError('hostportServed', { member, domain })
        : new ApiError('hostportTaken', { member, hostport: `${domain}:${EDGE_PORT}` });
    });
  await checkAll({ names: () => checkEach(given, readName), served: checkServed });
  return create;
}

async function addressesOf(given: string[], { accountId, app }: Context, db: Db, edgeId: string) {
  const create: { hostport: string; written: string | null; addressId: string; position: number }[] = [];
  const wanted = new Map<number, string>();
  const readAddress = async (text: string, position: number) => {
    const member = `hostports[${position}]`;
    const hostport = text.toLowerCase();
    const row = await db.reservedAddress.findFirst({ where: { accountId, addr: hostport } });
    if (!row) throw new ApiError('hostportNoAddress', { member, host: app.config.baseDomain });
    if (create.some((other) => other.hostport === hostport)) throw new ApiError('hostportRepeated', { member });
    const holder = await db.edgeHostport.findUnique({ where: { hostport }, select: { edgeId: true } });
    if (holder && holder.edgeId !== edgeId) throw new ApiError('hostportTaken', { member, hostport });
    if (!holder) wanted.set(row.port, member);
    create.push({ hostport, written: writtenBeside(hostport, text), addressId: row.id, position });
  };
  const checkServed = async () =>
    checkEach([...(await servedPorts(db, accountId, [...wanted.keys()]))], ([port, by]) => {
      const member = wanted.get(port) ?? 'hostports';
      throw by === 'agent'
        ? new ApiError('hostportServed', { member, domain: `the port ${port}` })
        : new ApiError('hostportTaken', { member, hostport: `${app.config.baseDomain}:${port}` });
    });
  await checkAll({ addresses: () => checkEach(given, readAddress), served: checkServed });
  return create;
}

function readHostport(text: string, member: string): { domain: string; hostport: string } {
  const [, domain, port] = /^((?:\*\.)?[a-z0-9.-]+):(\d+)$/i.exec(text) ?? [];
  if (!domain || !port) throw new ApiError('hostportFormat', { member });
  if (Number(port) < 1 || Number(port) > PORT_MAX) throw new ApiError('hostportRange', { member });
  if (Number(port) !== EDGE_PORT) throw new ApiError('hostportPort', { member });
  return { domain: domain.toLowerCase(), hostport: `${domain.toLowerCase()}:${EDGE_PORT}` };
}
