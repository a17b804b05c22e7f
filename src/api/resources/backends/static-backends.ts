// Static backends: the gateway itself connects to a host and a port.

import { readHostPort, writeHostPort } from '../../../net/host-port.ts';
import { ReachableHosts } from '../../../net/reachable-hosts.ts';
import { newId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { boolean, NOTED_MEMBERS, text } from '../../collections/members.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkBytes, checkTexts } from '../../text-limits.ts';
import { NO_LABELS } from './backend-members.ts';

/** A name has at most 253 bytes (RFC 1035, section 2.3.4), and a port five digits. */
const ADDRESS_MAX = 259;
const PORT = { min: 1, max: 65_535 };
/** As it is stored: see the schema. */
const KIND = { kind: 'FAILOVER' } as const;
const OF_KIND = { ...KIND, address: { not: null } } as const;

const StaticBackendTls = builder.objectRef<{ enabled: boolean }>('StaticBackendTls').implement({
  description: 'How a static backend is connected to.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', {
      description:
        'Whether with TLS. The certificate must be valid for the host, by an authority that the gateway trusts: those of Node, and ' +
        'those of its operator (`BACKEND_CA_FILE`).',
    }),
  }),
});

const StaticBackend = builder.prismaObject('Backend', {
  variant: 'StaticBackend',
  description:
    'A host and a port that the gateway itself connects to, without an agent. It counts as online always: a visitor whom nobody ' +
    'can be reached for gets 502.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `bkdsc_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/backends/static/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    address: t.string({
      description: 'The host and the port: `api.example.com:443`.',
      select: { address: true },
      resolve: ({ address }) => address ?? '',
    }),
    tls: t.field({
      type: StaticBackendTls,
      description: 'Whether it is connected to with TLS.',
      select: { tls: true },
      resolve: ({ tls }) => ({ enabled: tls === true }),
    }),
  }),
});

const staticBackends = collection({
  kind: 'staticBackend',
  prefix: 'bkdsc',
  path: '/backends/static',
  single: 'staticBackend',
  plural: 'staticBackends',
  typeName: 'StaticBackend',
  ref: StaticBackend,
  members: { ...NOTED_MEMBERS, address: text('address'), 'tls.enabled': boolean('tls') },
  table: (db) => db.backend,
  where: () => OF_KIND,
  audit: { name: 'static_backend', subject: 'A static backend' },
  conflicts: { inUse: 'backendInUse' },
  search: {
    ...{ rank: 144, table: 'backend', title: 't.address', detail: 't.description' },
    texts: ['t.address', ...NOTE_COLUMNS],
    where: `t.kind = 'FAILOVER' AND t.address IS NOT NULL`,
  },
});

const help = {
  address:
    'A name or an IP address, and a port: `api.example.com:443`, `192.0.2.1:8080`, `[2001:db8::1]:443`. Each time that the gateway ' +
    'connects, the address must be a public one, or allowed by its operator (`BACKEND_HOSTS`).',
  tls: 'How to connect.',
};

const StaticBackendTlsInput = builder.inputType('StaticBackendTlsInput', {
  description: 'How a static backend is connected to.',
  fields: (t) => ({ enabled: t.boolean({ description: 'Whether with TLS. Default: true in a new backend.' }) }),
});

const CreateStaticBackendInput = builder.inputType('CreateStaticBackendInput', {
  description: 'A new static backend.',
  fields: (t) => ({
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    address: t.string({ required: true, description: help.address }),
    tls: t.field({ type: StaticBackendTlsInput, description: `${help.tls} Default: without TLS.` }),
  }),
});

const UpdateStaticBackendInput = builder.inputType('UpdateStaticBackendInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    address: t.string({ description: `${help.address} Empty keeps what is there.` }),
    tls: t.field({ type: StaticBackendTlsInput, description: help.tls }),
  }),
});

builder.mutationField('createStaticBackend', (t) =>
  t.prismaField({
    type: StaticBackend,
    nullable: true,
    access: { kind: 'staticBackend' },
    description: 'Creates a static backend. Edges, routes and other backends can send their traffic to it.',
    args: {
      input: t.arg({ type: CreateStaticBackendInput, required: true, description: 'The static backend.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const place = {
        address: checkAddress(input.address, context),
        tls: input.tls ? (input.tls.enabled ?? true) : false,
      };
      const own = { id: newId(staticBackends.prefix), accountId: context.accountId, labels: NO_LABELS };
      const data = { ...checkTexts(input), ...KIND, ...own, ...place };
      return context.create(staticBackends, (db) => db.backend.create({ ...query, data }));
    },
  }),
);

builder.mutationField('updateStaticBackend', (t) =>
  t.prismaField({
    type: StaticBackend,
    nullable: true,
    access: { kind: 'staticBackend' },
    description: 'Changes a static backend. The next connection goes to the new address; those that are open stay.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the static backend.' }),
      input: t.arg({ type: UpdateStaticBackendInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId, ...OF_KIND };
      // Some clients write it as empty when they mean to keep it.
      const address = input.address ? checkAddress(input.address, context) : undefined;
      const data = { ...checkTexts(input), address, tls: input.tls?.enabled ?? undefined };
      return context.update(staticBackends, id, (db) => db.backend.update({ ...query, where, data }));
    },
  }),
);

deleteMutation(staticBackends, 'deleteStaticBackend', {
  description:
    'Deletes a static backend; connections that are open stay. Answers with its id; fails with `CONFLICT` while an edge, a route ' +
    'or another backend sends traffic to it.',
});

/** The address as it is stored. @throws {ApiError} when it is none, or may not be connected to whatever its name resolves to. */
function checkAddress(given: string, { app }: Context): string {
  const member = 'address';
  checkBytes(member, given, ADDRESS_MAX, 'backendAddressTooLong');
  const address = readHostPort(given);
  if (!address) throw new ApiError('backendAddress', { member });
  const { host, port } = address;
  if (port < PORT.min || port > PORT.max) throw new ApiError('backendAddressPort', { member, ...PORT, actual: port });
  if (!new ReachableHosts(app.config.backendHosts).mayReach(host))
    throw new ApiError('backendAddressForbidden', { member, host });
  return writeHostPort(address);
}

const selection = 'id uri createdAt description metadata address tls { enabled }';

export const routes = [
  route('POST', '/backends/static', 201, 'createStaticBackend', selection),
  ...readRoutes(staticBackends, 'backends', selection),
  route('PATCH', '/backends/static/:id', 200, 'updateStaticBackend', selection),
  route('DELETE', '/backends/static/:id', 204, 'deleteStaticBackend'),
];
