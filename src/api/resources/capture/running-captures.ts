// The captures of an account that are on, of all its addresses. In GraphQL only.

import type { TrafficCapture } from '../../../store/generated/prisma/client.ts';
import { builder } from '../../builder/builder.ts';
import { batchLoad } from '../../collections/batch-load.ts';
import { Node, registerResource } from '../../collections/nodes.ts';
import type { ListOrder } from '../../collections/order.ts';
import { connectionOf, pageArguments, readPage } from '../../collections/page.ts';
import { reference, WHEN_GONE } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import type { Route } from '../../route.ts';
import { Owner } from '../accounts/owner.ts';
import { Endpoint, liveEndpoints } from '../tunnels/endpoints.ts';
import { OfflineEndpoint } from '../tunnels/offline-endpoints.ts';
import { TrafficCaptureState } from './traffic-capture-type.ts';

const PREFIX = 'tcap';
const FIRST_TO_END: ListOrder = { column: 'endsAt', isNullable: false, holds: 'times', direction: 'asc' };

const RunningCapture = builder.objectRef<TrafficCapture>('RunningCapture').implement({
  description: 'A capture that is on. `trafficCapture` has what it keeps.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `tcap_…`.' }),
    publicUrl: t.exposeString('publicUrl', { description: 'The URL of the address whose requests are captured.' }),
    state: t.field({
      type: TrafficCaptureState,
      description: 'Whether it records: `WAITING` while nothing serves the address.',
      resolve: async ({ address }, _, context) =>
        (await endpointAt(context, address, OF_ALL)) ? 'RECORDING' : 'WAITING',
    }),
    endpoint: t.field({
      type: Endpoint,
      nullable: true,
      description: 'The endpoint that serves the address, one of several that share it; null while none does.',
      resolve: reference(({ address }, context) => endpointAt(context, address, OF_ALL)),
    }),
    offlineEndpoint: t.field({
      type: OfflineEndpoint,
      nullable: true,
      description:
        'What is known of the address while it is offline; null while it is online, and when it was forgotten.',
      resolve: reference(async ({ address }, context) =>
        (await endpointAt(context, address, OF_ALL)) ? null : offlineAt(context, address, OF_ALL),
      ),
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

registerResource({
  kind: 'trafficCapture', // As changes of them say.
  prefix: PREFIX,
  typeName: 'RunningCapture',
  ref: RunningCapture,
  find: (context, ids) => context.db.trafficCapture.findMany({ where: { ...running(context), id: { in: [...ids] } } }),
});

const RunningCaptureConnection = connectionOf(RunningCapture, 'RunningCapture', { isInRest: false });

builder.queryField('runningCaptures', (t) =>
  t.field({
    type: RunningCaptureConnection,
    nullable: true,
    access: { kind: null },
    description:
      'The captures of your account that are on, those that end first before all: also those that wait until their address ' +
      'is online again.',
    args: pageArguments,
    resolve: (_, page, context) => {
      const { trafficCapture } = context.db;
      const scope = running(context);
      return readPage(
        page,
        {
          ...{ prefix: PREFIX, path: '', order: FIRST_TO_END },
          findPosition: (id) => trafficCapture.findFirst({ where: { id, accountId: context.accountId } }),
        },
        ({ where, ...slice }) => trafficCapture.findMany({ ...slice, where: { AND: [scope, where] } }),
        () => trafficCapture.count({ where: scope }),
      );
    },
  }),
);

function running({ accountId, app }: Context) {
  return { accountId, endsAt: { gt: new Date(app.now()) } };
}

/** All look-ups of endpoints at addresses share one load. */
const OF_ALL = {};

const endpointAt = batchLoad<{ id: string }, object>(endpointsAt);

const offlineAt = batchLoad<{ id: string }, object>(async ({ db, accountId }, addresses) => {
  const where = { accountId, address: { in: [...addresses] } };
  const rows = await db.offlineEndpoint.findMany({ where, select: { id: true, address: true } });
  return new Map(rows.map((row) => [row.address, row]));
});

/** The endpoints that are live at addresses, of tunnels and of edges: of several at one address, the newest. */
async function endpointsAt(context: Context, addresses: readonly string[]) {
  const { db } = context;
  // Edges answer on this port alone, and no two of them have the same name.
  const names = addresses.filter((address) => address.startsWith('tls:'));
  const ofNames = new Map(names.map((address) => [`${address.slice(address.indexOf(':') + 1)}:443`, address]));
  const hostports = [...ofNames.keys()];
  const named = await db.edgeHostport.findMany({ where: { hostport: { in: hostports } }, select: { edgeId: true } });
  const edgeId = { in: named.map(({ edgeId }) => edgeId) };
  const cloudUrls = await db.cloudUrl.findMany({
    where: { address: { in: [...addresses] } },
    select: { edgeId: true, address: true },
  });
  const ofCloud = new Map(cloudUrls.map((url) => [url.edgeId, url.address]));
  const { OR: served, ...own } = await liveEndpoints(context);
  const rows = await db.endpoint.findMany({
    select: { id: true, address: true, hostport: true, edgeId: true },
    where: {
      ...own,
      AND: [
        { OR: served },
        {
          OR: [
            { address: { in: [...addresses] } },
            { edgeId, hostport: { in: hostports } },
            { edgeId: { in: [...ofCloud.keys()] } },
          ],
        },
      ],
    },
    orderBy: { id: 'asc' },
  });
  const addressOf = (row: (typeof rows)[number]) =>
    row.address ?? ofCloud.get(row.edgeId ?? '') ?? ofNames.get(row.hostport) ?? '';
  return new Map(rows.map((row) => [addressOf(row), row]));
}

/** There is no REST path for it. */
export const routes: Route[] = [];
