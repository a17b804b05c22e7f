// The captures of an account that are on, of all its addresses. In GraphQL only.

import { queryFromInfo } from '@pothos/plugin-prisma';
import { builder } from '../../builder/builder.ts';
import { checkSize, PAGE_SIZE_MAX } from '../../collections/page.ts';
import { reference, WHEN_GONE } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import type { Route } from '../../route.ts';
import { Owner } from '../accounts/owner.ts';
import { Endpoint, liveEndpoints } from '../tunnels/endpoints.ts';
import { OfflineEndpoint } from '../tunnels/offline-endpoints.ts';
import { TrafficCaptureState } from './traffic-capture-type.ts';

interface Running {
  id: string;
  address: string;
  publicUrl: string;
  ownerId: string;
  createdAt: Date;
  endsAt: Date;
  endpoint: { id: string } | undefined;
  offlineEndpoint: { id: string } | undefined;
}

const RunningCapture = builder.objectRef<Running>('RunningCapture').implement({
  description: 'A capture that is on. `trafficCapture` has what it keeps.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `tcap_…`.' }),
    publicUrl: t.exposeString('publicUrl', { description: 'The URL of the address whose requests are captured.' }),
    state: t.field({
      type: TrafficCaptureState,
      description: 'Whether it records: `WAITING` while nothing serves the address.',
      resolve: ({ endpoint }) => (endpoint ? 'RECORDING' : 'WAITING'),
    }),
    endpoint: t.field({
      type: Endpoint,
      nullable: true,
      description: 'The endpoint that serves the address, one of several that share it; null while none does.',
      resolve: ({ endpoint }) => (endpoint as never) ?? null,
    }),
    offlineEndpoint: t.field({
      type: OfflineEndpoint,
      nullable: true,
      description:
        'What is known of the address while it is offline; null while it is online, and when it was forgotten.',
      resolve: ({ offlineEndpoint }) => (offlineEndpoint as never) ?? null,
    }),
    startedAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was switched on.' }),
    startedBy: t.exposeID('ownerId', {
      description: 'The id of the user or bot user who switched it on, or changed its settings last.',
    }),
    starter: t.field({
      type: Owner,
      nullable: true,
      description: `The user or bot user who switched it on, or changed its settings last. ${WHEN_GONE}`,
      resolve: reference(({ ownerId }) => ownerId),
    }),
    endsAt: t.expose('endsAt', { type: 'Timestamp', description: 'When it switches itself off.' }),
  }),
});

builder.queryField('runningCaptures', (t) =>
  t.field({
    type: [RunningCapture],
    nullable: true,
    access: { kind: null },
    description:
      'The captures of your account that are on, those that end first before all: also those that wait until their address ' +
      'is online again.',
    args: { first: t.arg.int({ defaultValue: PAGE_SIZE_MAX, description: 'How many to give, 1 to 100.' }) },
    resolve: async (_, { first }, context, info) => {
      const { app, db, accountId } = context;
      const rows = await db.trafficCapture.findMany({
        where: { accountId, endsAt: { gt: new Date(app.now()) } },
        orderBy: [{ endsAt: 'asc' }, { id: 'asc' }],
        take: checkSize('first', first ?? PAGE_SIZE_MAX),
      });
      if (rows.length === 0) return [];
      const addresses = rows.map(({ address }) => address);
      const query = (typeName: string, path: string) => queryFromInfo({ context, info, typeName, paths: [[path]] });
      const [live, offline] = await Promise.all([
        endpointsAt(context, addresses, query('Endpoint', 'endpoint')),
        db.offlineEndpoint.findMany({
          ...query('OfflineEndpoint', 'offlineEndpoint'),
          where: { accountId, address: { in: addresses } },
        }),
      ]);
      const offlineByAddress = new Map(offline.map((row) => [row.address, row]));
      return rows.map((row) => {
        const endpoint = live.get(row.address);
        return { ...row, endpoint, offlineEndpoint: endpoint ? undefined : offlineByAddress.get(row.address) };
      });
    },
  }),
);

/** The endpoints that are live at addresses, of tunnels and of edges: of several at one address, the newest. */
async function endpointsAt(context: Context, addresses: readonly string[], query: object) {
  const { db } = context;
  // Edges answer on this port alone, and no two of them have the same name.
  const names = addresses.filter((address) => address.startsWith('tls:'));
  const ofNames = new Map(names.map((address) => [`${address.slice(address.indexOf(':') + 1)}:443`, address]));
  const hostports = [...ofNames.keys()];
  const named = await db.edgeHostport.findMany({ where: { hostport: { in: hostports } }, select: { edgeId: true } });
  const edgeId = { in: named.map(({ edgeId }) => edgeId) };
  const { OR: served, ...own } = await liveEndpoints(context);
  const rows = await db.endpoint.findMany({
    ...query,
    where: {
      ...own,
      AND: [{ OR: served }, { OR: [{ address: { in: [...addresses] } }, { edgeId, hostport: { in: hostports } }] }],
    },
    orderBy: { id: 'asc' },
  });
  return new Map(rows.map((row) => [row.address ?? ofNames.get(row.hostport) ?? '', row]));
}

/** There is no REST path for it. */
export const routes: Route[] = [];
