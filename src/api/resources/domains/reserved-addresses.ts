// Reserved TCP addresses: ports of this gateway that are the account's alone.

import { randomInt } from 'node:crypto';
import type { Db } from '../../../store/database/client.ts';
import { portsTaken } from '../../../store/tunnels/reserved-addresses.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { NOTED_MEMBERS, text } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { joined, named, related } from '../../collections/related.ts';
import { resource } from '../../collections/resource.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { Edge } from '../../modules/interfaces.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import type { ApiSettings } from '../../settings.ts';
import { checkRegion } from './region.ts';

/** Where TCP_PORTS names no range: below the ports that operating systems give for one connection, so that none has them by chance. */
const DEFAULT_RANGE = { first: 20_000, last: 29_999 };
/** How many ports are looked at in one statement, and how often. */
const CANDIDATES = 20;
const ATTEMPTS = 10;

const ROW = { prefix: 'ra', path: '/reserved_addrs' };

const ReservedAddress = builder.prismaObject('ReservedAddress', {
  description:
    'A TCP address that nobody but your account may use: a tunnel or a TCP edge of yours can always have it.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, { ...ROW, createdAt: 'When it was reserved.' }),
    addr: t.exposeString('addr', {
      description: 'The host and the port that visitors connect to, as in `gateway.example.com:20000`.',
    }),
    region: t.exposeString('region', { description: 'The region as it was given; "" when it was not.' }),
    endpoints: related(t, {
      ...{ kind: 'endpoint', on: named('address_id'), member: 'tcp_addr.id' },
      description: 'The endpoints that answer at it: one at most.',
    }),
    tcpEdges: related(t, {
      ...{ kind: 'tcpEdge', on: joined('edge_hostport', 'address_id', 'edge_id') },
      description: 'The TCP edges that answer at it: one at most.',
    }),
    endpointConfiguration: t.field({
      type: Edge,
      nullable: true,
      description: 'Always null: an address is configured through edges.',
      resolve: () => null,
    }),
  }),
});

export const { routes } = resource({
  kind: 'reservedAddress',
  model: 'ReservedAddress',
  ...ROW,
  ref: ReservedAddress,
  listKey: 'reserved_addrs',
  shows: 'id uri createdAt description metadata addr region endpointConfiguration { id uri }',
  // What addresses were configured by before there were edges.
  ignoredMembers: ['endpoint_configuration_id'],
  members: { ...NOTED_MEMBERS, addr: text('addr', { isOrdered: true }), region: text('region') },
  audit: { name: 'tcp_address', subject: 'A reserved TCP address' },
  conflicts: { taken: 'addressTaken', inUse: 'addressInUse' },
  search: {
    ...{ rank: 85, table: 'reserved_address', title: 't.addr', detail: 't.description' },
    texts: ['t.addr', ...NOTE_COLUMNS],
  },
  create: {
    description:
      'Reserves a TCP address: a port of the gateway that no other account can have. Fails with `CONFLICT` when the port ' +
      'is reserved, or another account serves it.',
    note: 'Every member may be left out.',
    input: (t) => ({
      port: t.field({
        type: 'UInt32',
        description:
          'The port that is wanted, of the range of the gateway (`TCP_PORTS`). Left out, a free one is chosen.',
      }),
      region: t.string({ description: 'Shown as it is given: letters, digits and hyphens, at most 64 bytes.' }),
    }),
    write(input, { accountId, app }) {
      const range = rangeOf(app.config);
      const { region, wanted } = checkAll({
        region: () => checkRegion(input.region ?? ''),
        wanted: () => checkPort(input.port, range),
      });
      return async (save, db) => {
        const port = wanted ?? (await freePort(db, accountId, range));
        if (wanted !== undefined && (await portsTaken(db, accountId, [wanted])).has(wanted))
          throw new ApiError('addressTaken', { member: 'port' });
        const addr = `${app.config.baseDomain}:${port}`;
        return save({ createdAt: new Date(app.now()), port, addr, region });
      };
    },
  },
  update: {
    description: 'Changes what is noted of a reserved TCP address.',
    note: 'The address and its region stay for good.',
  },
  remove: {
    description:
      'Gives a TCP address up: anybody may have it from now on. Answers with its id; fails with `CONFLICT` while an edge ' +
      'answers on it. A tunnel that serves it goes on.',
  },
});

interface PortRange {
  first: number;
  last: number;
}

function rangeOf({ tcpPorts }: ApiSettings): PortRange {
  return tcpPorts.first === 0 ? DEFAULT_RANGE : tcpPorts;
}

function checkPort(port: number | null | undefined, { first, last }: PortRange): number | undefined {
  if (port == null) return undefined;
  if (port < first || port > last) throw new ApiError('addressPortRange', { member: 'port', first, last });
  return port;
}

/** A random port of the range that nobody else has. @throws {ApiError} when none was found. */
async function freePort(db: Db, accountId: string, { first, last }: PortRange): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const candidates = [...new Set(Array.from({ length: CANDIDATES }, () => randomInt(first, last + 1)))];
    const taken = await portsTaken(db, accountId, candidates);
    const port = candidates.find((candidate) => !taken.has(candidate));
    if (port !== undefined) return port;
  }
  throw new ApiError('noAddressFree', { first, last });
}
