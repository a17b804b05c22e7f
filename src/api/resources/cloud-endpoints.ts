// Cloud endpoints: URLs that a traffic policy answers in the gateway itself, without an agent. Each is a row among the edges, which
// holds its URL and its policy, and an endpoint, which is what the API shows of it. They have a list of their own; clients written for
// the original service have them among all endpoints.

import { trafficPolicyModule } from '../../edge/modules/traffic-policy.ts';
import type { WriteAction } from '../../store/changes/changes.ts';
import type { Db } from '../../store/database/client.ts';
import { deleteEdgeEndpoints } from '../../store/edges/edge-endpoints.ts';
import { storedModule, writeStoredModules } from '../../store/edges/module-rows.ts';
import { newId } from '../../store/ids.ts';
import { builder } from '../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../builder/field-cost.ts';
import { addList, readRoutes } from '../collections/collection.ts';
import { deletedOf, givesNew, givesObject, mutation } from '../collections/mutation.ts';
import type { Announce, Context } from '../context.ts';
import { ApiError, requireFound } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { cloudEndpoint as host } from '../modules/hosts.ts';
import { checkTrafficPolicy } from '../modules/policy-check.ts';
import { inLowerCase } from '../rest-words.ts';
import { type Route, route } from '../route.ts';
import { checkBytes, checkTexts, DESCRIPTION_MAX_BYTES, type OwnerNotes } from '../text-limits.ts';
import { type AddressInput, type AddressWriting, writeAddress } from './tunnels/cloud-address.ts';
import { type CloudUrl, cloudUrlOf, cloudUrlSelect, readCloudUrl } from './tunnels/cloud-urls.ts';
import { Endpoint, endpointCollection, extendedSelection } from './tunnels/endpoints.ts';

const CreatedType = builder.enumType('CreatedEndpointType', {
  description: 'What kinds of endpoint are created through the API: others come with their agents and edges.',
  extensions: inLowerCase(),
  values: { CLOUD: { description: 'A traffic policy answers its requests.' } } as const,
});

const Binding = builder.enumType('CloudEndpointBinding', {
  description: 'Who can reach a cloud endpoint.',
  extensions: inLowerCase(),
  values: {
    PUBLIC: { value: 'public', description: 'Everybody.' },
    INTERNAL: {
      value: 'internal',
      description: 'The traffic policies of its account, by `forward-internal`.',
    },
    KUBERNETES: {
      value: 'kubernetes',
      description: 'Clusters of Kubernetes, which is refused: the gateway brings no endpoints into them.',
    },
  } as const,
});

const text = {
  url:
    '`http://`, `https://` or `tls://` and a name that a reserved domain of your account covers, as `https://shop.example.com`; `tcp://` and ' +
    'a reserved address; or any of them and a name that ends with `.internal`, with any port. Without a scheme it is `https`, with port ' +
    '80 `http`, and with any other than 443 `tcp`. It is shown as it is written.',
  type: 'What it is: `CLOUD`.',
  trafficPolicy:
    'The traffic policy that answers there, in JSON or YAML. Of `http` and `https` its phases are `on_http_request` and ' +
    '`on_http_response`, and a request that no action of it answers gets 404; of `tls` and `tcp` it is `on_tcp_connect`, and a connection ' +
    'that no action of it sends on is closed. Secrets are kept as in those of routes.',
  name: 'What it is called; at most 255 bytes.',
  description: 'What it is for, for people; at most 255 bytes.',
  metadata: 'Anything, for machines; at most 4096 bytes.',
  bindings: 'Who can reach it, which its name says: `INTERNAL` where that ends with `.internal`, otherwise `PUBLIC`.',
  poolingEnabled:
    'Whether others may serve its URL, too: cloud endpoints and agents that are pooled, of your account. They take turns. False by default.',
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

interface Input extends OwnerNotes, AddressInput {
  name?: string | null;
  trafficPolicy?: string | null;
}

interface Writing extends AddressWriting {
  announce: Announce;
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
        return change({ context, db, announce, id, before: undefined }, 'CREATED', query, input);
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
        const { edgeId: id, publicUrl, before } = await find(db, context, endpointId);
        // The URL that is shown may have the port of the listener, and is sent back as it is.
        const url = input.url === publicUrl ? undefined : input.url;
        return change({ context, db, announce, id, before }, 'UPDATED', query, { ...input, url });
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
        await deleteEdgeEndpoints(auditOf(context, db, announce), id);
        await db.edge.delete({ where: { id }, select: { id: true } });
        announceRow(announce, context, 'DELETED', id);
      });
      return endpointId;
    },
  }),
);

/** @throws {ApiError} when the account has none with this id, or it is no cloud endpoint. */
async function find(db: Db, { accountId }: Context, id: string) {
  const select = { type: true, publicUrl: true, edge: { select: { id: true, ...cloudUrlSelect } } } as const;
  const { type, publicUrl, edge } = requireFound(
    await db.endpoint.findUnique({ where: { id, accountId }, select }),
    'endpoint',
  );
  if (type !== 'CLOUD' || edge === null) throw new ApiError('endpointNotCloud');
  return { edgeId: edge.id, publicUrl, before: cloudUrlOf(edge) };
}

async function change(writing: Writing, action: WriteAction, query: object, input: Input) {
  const { context, db, announce, id } = writing;
  const name = input.name ?? undefined;
  const { texts } = await checkAll({
    name: () => name && checkBytes('name', name, DESCRIPTION_MAX_BYTES, 'descriptionTooLong'),
    address: () => writeAddress(writing, input),
    policy: () => writePolicy(writing, input),
    texts: () => checkTexts(input),
  });
  await db.edge.update({ where: { id }, data: { name, ...texts }, select: { id: true } });
  await host.afterWrite(auditOf(context, db, announce), id);
  announceRow(announce, context, action, id);
  // It was changed, also where nothing of its row was.
  const { id: endpointId } = await db.endpoint.findFirstOrThrow({ where: { edgeId: id }, select: { id: true } });
  return db.endpoint.update({ ...query, where: { id: endpointId }, data: { updatedAt: new Date() } });
}

/** @throws {ApiError} when the policy is not for the protocol of the URL. */
async function writePolicy(writing: Writing, { url, trafficPolicy: value }: Input): Promise<void> {
  const { db, id } = writing;
  const { key } = trafficPolicyModule;
  const before = writing.before && protocolOf(writing.before);
  const read = url == null ? undefined : readCloudUrl(url);
  const protocol = (read && protocolOf(read)) ?? before ?? host.protocol;
  if (value == null) {
    if (before === undefined || before === protocol) return;
    const row = await db.edge.findUniqueOrThrow({ where: { id }, select: { modules: true } });
    if (storedModule(row, trafficPolicyModule)) throw new ApiError('endpointPolicyPhase', { member: 'url' });
    return;
  }
  const isGone = value.trim() === '';
  const policy = isGone
    ? null
    : await checkTrafficPolicy({ ...host, protocol }, { enabled: true, value }, { ...writing, member: '' }, () => key);
  await writeStoredModules(writing.db, host.table, writing.id, { [key]: policy });
}

const protocolOf = ({ proto }: CloudUrl) => (proto === 'http' ? 'https' : proto);

/** The endpoint itself is announced by whoever writes it. */
function auditOf(context: Context, db: Db, announce: Announce) {
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
