// Static backends: the gateway itself connects to a host and a port.

import { readHostPort, writeHostPort } from '../../../net/host-port.ts';
import { ReachableHosts } from '../../../net/reachable-hosts.ts';
import { asWritten, writtenBeside } from '../../as-written.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { boolean, NOTED_MEMBERS, text } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { resource } from '../../collections/resource.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { Backend } from '../../modules/interfaces.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { checkBytes } from '../../text-limits.ts';
import { NO_LABELS } from './backend-members.ts';

/** A name has at most 253 bytes (RFC 1035, section 2.3.4), and a port five digits. */
const ADDRESS_MAX = 259;
const PORT = { min: 1, max: 65_535 };
/** As it is stored: see the schema. */
const KIND = { kind: 'FAILOVER' } as const;
const OF_KIND = { ...KIND, address: { not: null } } as const;

const ROW = { prefix: 'bkdsc', path: '/backends/static' };

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
  interfaces: [Node, Backend],
  fields: (t) => ({
    ...rowFields(t, ROW),
    address: t.string({
      description: 'The host and the port, as they were written: `api.example.com:443`.',
      select: { address: true, writtenAddress: true },
      resolve: ({ address, writtenAddress }) => asWritten(address ?? '', writtenAddress, normalAddress),
    }),
    tls: t.field({
      type: StaticBackendTls,
      description: 'Whether it is connected to with TLS.',
      select: { tls: true },
      resolve: ({ tls }) => ({ enabled: tls === true }),
    }),
  }),
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

export const { routes } = resource({
  kind: 'staticBackend',
  model: 'Backend',
  ...ROW,
  ref: StaticBackend,
  listKey: 'backends',
  shows: 'id uri createdAt description metadata address tls { enabled }',
  members: { ...NOTED_MEMBERS, address: text('address'), 'tls.enabled': boolean('tls') },
  where: () => OF_KIND,
  audit: { name: 'static_backend', subject: 'A static backend' },
  conflicts: { inUse: 'backendInUse' },
  search: {
    ...{ rank: 144, table: 'backend', title: 't.address', detail: 't.description' },
    texts: ['t.address', ...NOTE_COLUMNS],
    where: `t.kind = 'FAILOVER' AND t.address IS NOT NULL`,
  },
  create: {
    description: 'Creates a static backend. Edges, routes and other backends can send their traffic to it.',
    input: (t) => ({
      address: t.string({ required: true, description: help.address }),
      tls: t.field({ type: StaticBackendTlsInput, description: `${help.tls} Default: without TLS.` }),
    }),
    write: ({ address, tls }, context) => ({
      ...{ ...KIND, labels: NO_LABELS, ...checkAddress(address, context) },
      tls: tls ? (tls.enabled ?? true) : false,
    }),
  },
  update: {
    description: 'Changes a static backend. The next connection goes to the new address; those that are open stay.',
    input: (t) => ({
      address: t.string({ description: `${help.address} Empty keeps what is there.` }),
      tls: t.field({ type: StaticBackendTlsInput, description: help.tls }),
    }),
    write: ({ address, tls }, context) => ({
      // Some clients write it as empty when they mean to keep it.
      ...(address ? checkAddress(address, context) : {}),
      tls: tls?.enabled ?? undefined,
    }),
  },
  remove: {
    description:
      'Deletes a static backend; connections that are open stay. Answers with its id; fails with `CONFLICT` while an edge, a route ' +
      'or another backend sends traffic to it.',
  },
});

function normalAddress(text: string): string | undefined {
  const address = readHostPort(text);
  return address && writeHostPort(address);
}

/** The address as it is stored. @throws {ApiError} when it is none, or may not be connected to whatever its name resolves to. */
function checkAddress(given: string, { app }: Context): { address: string; writtenAddress: string | null } {
  const member = 'address';
  checkBytes(member, given, ADDRESS_MAX, 'backendAddressTooLong');
  const address = readHostPort(given);
  if (!address) throw new ApiError('backendAddress', { member });
  const { host, port } = address;
  if (port < PORT.min || port > PORT.max) throw new ApiError('backendAddressPort', { member, ...PORT, actual: port });
  if (!new ReachableHosts(app.config.backendHosts).mayReach(host))
    throw new ApiError('backendAddressForbidden', { member, host });
  const normal = writeHostPort(address);
  return { address: normal, writtenAddress: writtenBeside(normal, given) };
}
