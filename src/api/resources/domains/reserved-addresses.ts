// Reserved TCP addresses: ports of this gateway that are the account's alone.

import { randomInt } from 'node:crypto';
import type { Db } from '../../../store/database/client.ts';
import { newId } from '../../../store/ids.ts';
import { portsTaken } from '../../../store/tunnels/reserved-addresses.ts';
import { builder, Ref } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { type ListMembers, NOTED_MEMBERS, text } from '../../collections/members.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { route } from '../../route.ts';
import type { ApiSettings } from '../../settings.ts';
import { checkTexts } from '../../text-limits.ts';
import { checkRegion } from './region.ts';

/** Where TCP_PORTS names no range: below the ports that operating systems give for one connection, so that none has them by chance. */
const DEFAULT_RANGE = { first: 20_000, last: 29_999 };
/** How many ports are looked at in one statement, and how often. */
const CANDIDATES = 20;
const ATTEMPTS = 10;

const ReservedAddress = builder.prismaObject('ReservedAddress', {
  description:
    'A TCP address that nobody but your account may use: a tunnel or a TCP edge of yours can always have it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ra_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/reserved_addrs/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was reserved.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    addr: t.exposeString('addr', {
      description: 'The host and the port that visitors connect to, as in `gateway.example.com:20000`.',
    }),
    region: t.exposeString('region', { description: 'The region as it was given; "" when it was not.' }),
    endpointConfiguration: t.field({
      type: Ref,
      nullable: true,
      description: 'Always null: an address is configured through edges.',
      resolve: () => null,
    }),
  }),
});

const MEMBERS: ListMembers = {
  ...NOTED_MEMBERS,
  addr: text('addr', { isOrdered: true }),
  region: text('region'),
};

const reservedAddresses = collection({
  kind: 'reservedAddress',
  prefix: 'ra',
  path: '/reserved_addrs',
  single: 'reservedAddress',
  plural: 'reservedAddresses',
  typeName: 'ReservedAddress',
  ref: ReservedAddress,
  members: MEMBERS,
  table: (db) => db.reservedAddress,
  audit: { name: 'tcp_address', subject: 'A reserved TCP address' },
  conflicts: { taken: 'addressTaken', inUse: 'addressInUse' },
  search: {
    ...{ rank: 85, table: 'reserved_address', title: 't.addr', detail: 't.description' },
    texts: ['t.addr', ...NOTE_COLUMNS],
  },
});

const CreateReservedAddressInput = builder.inputType('CreateReservedAddressInput', {
  description: 'A new reserved address. Every member may be left out.',
  fields: (t) => ({
    port: t.field({
      type: 'UInt32',
      description:
        'The port that is wanted, of the range of the gateway (`TCP_PORTS`). Left out, a free one is chosen.',
    }),
    region: t.string({ description: 'Shown as it is given: letters, digits and hyphens, at most 64 bytes.' }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const UpdateReservedAddressInput = builder.inputType('UpdateReservedAddressInput', {
  description: 'What to change; a member left out or null stays as it is. The address and its region stay for good.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
  }),
});

builder.mutationField('createReservedAddress', (t) =>
  t.prismaField({
    type: ReservedAddress,
    nullable: true,
    access: { kind: 'reservedAddress' },
    description:
      'Reserves a TCP address: a port of the gateway that no other account can have. Fails with `CONFLICT` when the port ' +
      'is reserved, or another account serves it.',
    args: {
      input: t.arg({ type: CreateReservedAddressInput, required: true, description: 'The reserved address.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => reserveAddress(query, input, context),
  }),
);

function reserveAddress(query: object, input: typeof CreateReservedAddressInput.$inferInput, context: Context) {
  const { accountId, app } = context;
  const texts = checkTexts(input);
  const region = checkRegion(input.region ?? '');
  const range = rangeOf(app.config);
  const wanted = checkPort(input.port, range);
  return context.create(reservedAddresses, async (db) => {
    const port = wanted ?? (await freePort(db, accountId, range));
    if (wanted !== undefined && (await portsTaken(db, accountId, [wanted])).has(wanted))
      throw new ApiError('addressTaken', { member: 'port' });
    const data = {
      ...{ ...texts, id: newId(reservedAddresses.prefix), accountId, createdAt: new Date(app.now()) },
      ...{ port, addr: `${app.config.baseDomain}:${port}`, region },
    };
    return db.reservedAddress.create({ ...query, data });
  });
}

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

builder.mutationField('updateReservedAddress', (t) =>
  t.prismaField({
    type: ReservedAddress,
    nullable: true,
    access: { kind: 'reservedAddress' },
    description: 'Changes what is noted of a reserved TCP address.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the reserved address.' }),
      input: t.arg({ type: UpdateReservedAddressInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const data = checkTexts(input);
      return context.update(reservedAddresses, id, (db) => db.reservedAddress.update({ ...query, where, data }));
    },
  }),
);

deleteMutation(reservedAddresses, 'deleteReservedAddress', {
  description:
    'Gives a TCP address up: anybody may have it from now on. Answers with its id; fails with `CONFLICT` while an edge ' +
    'answers on it. A tunnel that serves it goes on.',
});

const selection = 'id uri createdAt description metadata addr region endpointConfiguration { id uri }';

/** What addresses were configured by before there were edges. */
const ignoredMembers = ['endpoint_configuration_id'];

export const routes = [
  route('POST', '/reserved_addrs', 201, 'createReservedAddress', selection, { ignoredMembers }),
  ...readRoutes(reservedAddresses, 'reserved_addrs', selection),
  route('PATCH', '/reserved_addrs/:id', 200, 'updateReservedAddress', selection, { ignoredMembers }),
  route('DELETE', '/reserved_addrs/:id', 204, 'deleteReservedAddress'),
];
