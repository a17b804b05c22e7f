// Cloud endpoints: names that a traffic policy answers in the gateway itself, without an agent. Each is a row among the edges, which
// holds its name and its policy, and an endpoint, which is what the API shows of it. They have a list of their own; clients written for
// the original service have them among all endpoints.

import { trafficPolicyModule } from '../../edge/modules/traffic-policy.ts';
import type { WriteAction } from '../../store/changes/changes.ts';
import type { Db } from '../../store/database/client.ts';
import { deleteEdgeEndpoints } from '../../store/edges/edge-endpoints.ts';
import { writeStoredModules } from '../../store/edges/module-rows.ts';
import { newId } from '../../store/ids.ts';
import { writtenBeside } from '../as-written.ts';
import { builder } from '../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../builder/field-cost.ts';
import { addList, readRoutes } from '../collections/collection.ts';
import { deletedOf, givesNew, givesObject, mutation } from '../collections/mutation.ts';
import type { Announce, Context } from '../context.ts';
import { errorTable } from '../errors/error-table.ts';
import { ApiError, requireFound } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { cloudEndpoint as host } from '../modules/hosts.ts';
import { checkTrafficPolicy } from '../modules/policy-check.ts';
import { type Route, route } from '../route.ts';
import { checkBytes, checkTexts, DESCRIPTION_MAX_BYTES, type OwnerNotes } from '../text-limits.ts';
import { writeHostports } from './edges/hostports.ts';
import { cloudUrlOf, hostportOfCloudUrl } from './tunnels/cloud-urls.ts';
import { Endpoint, endpointCollection, extendedSelection } from './tunnels/endpoints.ts';

const CreatedType = builder.enumType('CreatedEndpointType', {
  description: 'What kinds of endpoint are created through the API: others come with their agents and edges.',
  values: { cloud: { description: 'A traffic policy answers its requests.' } } as const,
});

const Binding = builder.enumType('CloudEndpointBinding', {
  description: 'Who can reach a cloud endpoint.',
  values: { public: { description: 'Everybody.' } } as const,
});

const text = {
  url: '`https://` and a name that a reserved domain of your account covers, as `https://shop.example.com`. It is shown as it is written.',
  type: 'What it is: `cloud`.',
  trafficPolicy:
    'The traffic policy that answers its requests, in JSON or YAML; its phases are `on_http_request` and ' +
    '`on_http_response`. A request that no action of it answers gets 404. Secrets are kept as in those of routes.',
  name: 'What it is called; at most 255 bytes.',
  description: 'What it is for, for people; at most 255 bytes.',
  metadata: 'Anything, for machines; at most 4096 bytes.',
  bindings: 'Who can reach it: `public`.',
  poolingEnabled: 'Whether others may serve its URL, too: false.',
};

const CreateCloudEndpointInput = builder.inputType('CreateCloudEndpointInput', {
  description: 'A new cloud endpoint.',
  fields: (t) => ({
    url: t.string({ required: true, description: text.url }),
    type: t.field({ type: CreatedType, description: text.type }),
    trafficPolicy: t.string({ description: text.trafficPolicy }),
    name: t.string({ description: text.name }),
    description: t.string({ description: text.description }),
    metadata: t.string({ description: text.metadata }),
    bindings: t.field({ type: [Binding], description: text.bindings }),
    poolingEnabled: t.boolean({ description: text.poolingEnabled }),
  }),
});

const UpdateCloudEndpointInput = builder.inputType('UpdateCloudEndpointInput', {
  description: 'What to change of a cloud endpoint; a member left out or null stays as it is.',
  fields: (t) => ({
    url: t.string({ description: `Another URL: ${text.url}` }),
    trafficPolicy: t.string({ description: `${text.trafficPolicy} "" takes it away.` }),
    name: t.string({ description: `${text.name} "" clears it.` }),
    description: t.string({ description: `${text.description} "" clears it.` }),
    metadata: t.string({ description: `${text.metadata} "" clears it.` }),
    bindings: t.field({ type: [Binding], description: text.bindings }),
    poolingEnabled: t.boolean({ description: text.poolingEnabled }),
  }),
});

interface Input extends OwnerNotes {
  url?: string | null;
  name?: string | null;
  trafficPolicy?: string | null;
  poolingEnabled?: boolean | null;
}

interface Writing {
  context: Context;
  db: Db;
  announce: Announce;
  /** The row among the edges. */
  id: string;
}

const cloudEndpoints = addList(
  {
    ...endpointCollection,
    kind: host.kind,
    scopeKind: endpointCollection.kind,
    path: '/cloud_endpoints',
    single: 'cloudEndpoint',
    plural: 'cloudEndpoints',
    narrowing: undefined,
    where: () => ({ type: 'CLOUD' }),
  },
  'CloudEndpoint',
);

mutation('createCloudEndpoint', givesNew('endpoint', 'CloudEndpoint'), (t) =>
  t.prismaField({
    type: Endpoint,
    nullable: true,
    access: { kind: 'endpoint' },
    weight: FEW_PER_DOCUMENT,
    description: 'Creates a cloud endpoint: a traffic policy answers its requests, without an agent.',
    args: {
      input: t.arg({ type: CreateCloudEndpointInput, required: true, description: 'The cloud endpoint.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) =>
      context.create(endpointCollection, async (db, announce) => {
        const id = newId(host.prefix);
        const data = { id, accountId: context.accountId, kind: 'CLOUD' } as const;
        await db.edge.create({ data, select: { id: true } });
        return change({ context, db, announce, id }, 'CREATED', query, input);
      }),
  }),
);

mutation('updateCloudEndpoint', givesObject('endpoint'), (t) =>
  t.prismaField({
    type: Endpoint,
    nullable: true,
    access: { kind: 'endpoint' },
    weight: FEW_PER_DOCUMENT,
    description: 'Changes a cloud endpoint. Fails with `CONFLICT` for what an agent or an edge serves.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the cloud endpoint.' }),
      input: t.arg({ type: UpdateCloudEndpointInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id: endpointId, input }, context) =>
      context.update(endpointCollection, endpointId, async (db, announce) => {
        const { edgeId: id, publicUrl } = await find(db, context, endpointId);
        // The URL that is shown may have the port of the listener, and is sent back as it is.
        const url = input.url === publicUrl ? undefined : input.url;
        return change({ context, db, announce, id }, 'UPDATED', query, { ...input, url });
      }),
  }),
);

mutation('deleteCloudEndpoint', deletedOf('endpoint'), (t) =>
  t.id({
    nullable: true,
    access: { kind: 'endpoint' },
    description:
      'Deletes a cloud endpoint. Answers with its id; fails with `CONFLICT` for what an agent or an edge serves.',
    args: { id: t.arg.id({ required: true, description: 'The id of the cloud endpoint.' }) },
    resolve: async (_, { id: endpointId }, context) => {
      await context.remove(endpointCollection, endpointId, async (db, announce) => {
        const { edgeId: id } = await find(db, context, endpointId);
        await deleteEdgeEndpoints(auditOf({ context, db, announce }), id);
        await db.edge.delete({ where: { id }, select: { id: true } });
        announceRow(announce, context, 'DELETED', id);
      });
      return endpointId;
    },
  }),
);

/** @throws {ApiError} when the account has none with this id, or it is no cloud endpoint. */
async function find(db: Db, { accountId }: Context, id: string): Promise<{ edgeId: string; publicUrl: string }> {
  const select = { type: true, edgeId: true, publicUrl: true } as const;
  const { type, edgeId, publicUrl } = requireFound(
    await db.endpoint.findUnique({ where: { id, accountId }, select }),
    'endpoint',
  );
  if (type !== 'CLOUD' || edgeId === null) throw new ApiError('endpointNotCloud');
  return { edgeId, publicUrl };
}

async function change(writing: Writing, action: WriteAction, query: object, input: Input) {
  const { context, db, announce, id } = writing;
  const name = input.name ?? undefined;
  const { hostports, texts } = await checkAll({
    name: () => name && checkBytes('name', name, DESCRIPTION_MAX_BYTES, 'descriptionTooLong'),
    hostports: () => writeUrl(writing, input),
    // After the URL: whether another endpoint is in the way tells such a client more.
    pooling() {
      if (input.poolingEnabled) throw new ApiError('endpointPooling', { member: 'poolingEnabled' });
    },
    policy: () => writePolicy(writing, input.trafficPolicy),
    texts: () => checkTexts(input),
  });
  await db.edge.update({ where: { id }, data: { name, ...texts, hostports }, select: { id: true } });
  await host.afterWrite(auditOf(writing), id);
  announceRow(announce, context, action, id);
  // It was changed, also where nothing of its row was.
  const { id: endpointId } = await db.endpoint.findFirstOrThrow({ where: { edgeId: id }, select: { id: true } });
  return db.endpoint.update({ ...query, where: { id: endpointId }, data: { updatedAt: new Date() } });
}

/** @returns what to write of the row's hostport: undefined leaves it as it is. @throws {ApiError} when the URL cannot be had. */
async function writeUrl({ context, db, id }: Writing, { url, poolingEnabled }: Input) {
  if (url == null) return undefined;
  const member = 'url';
  const hostport = hostportOfCloudUrl(url);
  if (!hostport) throw new ApiError('endpointUrl', { member });
  try {
    const hostports = await writeHostports('cloudEndpoint', [hostport], context, db, id);
    const written = writtenBeside(cloudUrlOf(hostport), url);
    return hostports && { ...hostports, create: hostports.create.map((row) => ({ ...row, written })) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.parameters.member === undefined) throw error;
    if (error.row === errorTable.hostportServed)
      throw new ApiError(poolingEnabled ? 'endpointServedAlone' : 'endpointServed', { member, url });
    throw new ApiError(error.row, { ...error.parameters, member });
  }
}

async function writePolicy(writing: Writing, value: string | null | undefined): Promise<void> {
  if (value == null) return;
  const { key } = trafficPolicyModule;
  const isGone = value.trim() === '';
  const policy = isGone
    ? null
    : await checkTrafficPolicy(host, { enabled: true, value }, { ...writing, member: '' }, () => key);
  await writeStoredModules(writing.db, host.table, writing.id, { [key]: policy });
}

/** The endpoint itself is announced by whoever writes it. */
function auditOf({ context, db, announce }: Omit<Writing, 'id'>) {
  const announceOthers: Announce = (change) => {
    if (change.kind !== endpointCollection.kind) announce(change);
  };
  return { db, announce: announceOthers, baseUrl: context.baseUrl };
}

/** What the data plane follows: other endpoints come and go by the thousand. */
function announceRow(announce: Announce, { accountId }: Context, action: WriteAction, id: string): void {
  announce({ kind: host.kind, action, id, accountId });
}

const selection =
  'id uri createdAt updatedAt url proto hostport type name description metadata domain { id uri } bindings poolingEnabled ' +
  'trafficPolicy';

/** Its `uri` as an endpoint is in both collections. */
const asCloudEndpoint = (row: Route): Route => ({
  ...row,
  alias: { of: endpointCollection.path, path: cloudEndpoints.path },
});

/** The documented dialect creates, changes and deletes no endpoints (specification section 4.2). */
const amongEndpoints = (operationId: string) => ({ operationId, extended: { isOnly: true } });

export const routes = [
  ...[
    route('POST', '/cloud_endpoints', 201, 'createCloudEndpoint', selection),
    ...readRoutes(cloudEndpoints, 'cloud_endpoints', selection),
    route('PATCH', '/cloud_endpoints/:id', 200, 'updateCloudEndpoint', selection),
    route('DELETE', '/cloud_endpoints/:id', 204, 'deleteCloudEndpoint'),
  ].map(asCloudEndpoint),
  route('POST', '/endpoints', 201, 'createCloudEndpoint', extendedSelection, amongEndpoints('createEndpoint')),
  route('PATCH', '/endpoints/:id', 200, 'updateCloudEndpoint', extendedSelection, amongEndpoints('updateEndpoint')),
  route('DELETE', '/endpoints/:id', 204, 'deleteCloudEndpoint', '', amongEndpoints('deleteEndpoint')),
];
