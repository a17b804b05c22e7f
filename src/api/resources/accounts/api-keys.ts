// API keys: what clients of this API prove themselves with (specification section 5).

import { newId, newSecret } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { id, NOTED_MEMBERS, time } from '../../collections/members.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { searchByNotes } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import { readScopes } from './key-scopes.ts';
import { checkHolder, chooseOwner, Owner } from './owner.ts';

const ApiKey = builder.prismaObject('ApiKey', {
  description: 'A key to this API.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ak_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/api_keys/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    description: t.exposeString('description', { description: 'Who or what uses it, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    token: t.string({
      nullable: true,
      description: 'The key itself. Only the answer to `createApiKey` has it; nobody can read it afterwards.',
      resolve: (row) => ('token' in row ? String(row.token) : null),
    }),
    scopes: t.exposeStringList('scopes', {
      description:
        'What it may do: `read`, or kinds of objects as in `reserved_domain:read` and `tls_edge:write`, or one object, as in ' +
        '`credential:write:cr_…`. Writing includes reading; what an object shows of others is read with it. Empty: all that its owner may.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'Until when it is accepted; null: until it is deleted.',
    }),
    ownerId: t.exposeID('ownerId', { description: 'The id of the user or bot user who holds it.' }),
    owner: t.relation('owner', { type: Owner, description: 'The user or bot user who holds it.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'Timestamp',
      nullable: true,
      description:
        'The minute in which it was last accepted, which is known a few seconds later; null when it never was. No event ' +
        'and no change tells of it.',
    }),
  }),
});

export const apiKeys = collection({
  kind: 'apiKey',
  prefix: 'ak',
  path: '/api_keys',
  single: 'apiKey',
  plural: 'apiKeys',
  typeName: 'ApiKey',
  ref: ApiKey,
  members: {
    ...NOTED_MEMBERS,
    owner_id: id('ownerId', { isOrdered: true }),
    last_used_at: time('lastUsedAt', { isNullable: true }),
    expires_at: time('expiresAt', { isNullable: true, isOrdered: false }),
  },
  table: (db) => db.apiKey,
  audit: { name: 'api_key', subject: 'An API key' },
  search: searchByNotes(50, 'api_key'),
});

const SCOPES =
  'What it may do, as in `read`, `reserved_domain:read`, `tls_edge:write`, `credential:write:cr_…`; at most 50. Empty: all.';

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'A new API key. Every member may be left out.',
  fields: (t) => ({
    description: t.string({ description: 'Who or what will use it, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    ownerId: t.id({ description: 'Who is to hold it; you, when left out. Only admins may name another.' }),
    scopes: t.stringList({ description: SCOPES }),
    expiresAt: t.field({ type: 'Timestamp', description: 'Until when it is accepted; for good, when left out.' }),
  }),
});

const UpdateApiKeyInput = builder.inputType('UpdateApiKeyInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    scopes: t.stringList({ description: `${SCOPES} Replaces the whole list.` }),
    expiresAt: t.field({ type: 'Timestamp', description: 'Until when it is accepted from now on.' }),
  }),
});

interface Limits {
  scopes?: readonly string[] | null;
  expiresAt?: Date | null;
}

/** @throws {ApiError} when a scope is none, or the key would outlive the one that asks. */
function checkLimits({ scopes, expiresAt }: Limits, { app, caller: { keyExpiresAt } }: Context, isNew = false) {
  const latest = keyExpiresAt ?? Number.POSITIVE_INFINITY;
  const at = expiresAt?.getTime() ?? (isNew ? Number.POSITIVE_INFINITY : undefined);
  if (at !== undefined && (at <= app.now() || at > latest)) throw new ApiError('badExpiry', { member: 'expiresAt' });
  return { scopes: scopes ? readScopes(scopes) : undefined, expiresAt: expiresAt ?? undefined };
}

builder.mutationField('createApiKey', (t) =>
  t.prismaField({
    type: ApiKey,
    nullable: true,
    access: { kind: null },
    description:
      'Creates an API key with the rights of its owner, or some of them. Its `token` is shown here and never again.',
    args: {
      input: t.arg({ type: CreateApiKeyInput, required: true, description: 'The API key.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (query, _, { input }, context) => {
      const { accountId, app } = context;
      const id = newId(apiKeys.prefix);
      const token = newSecret(id);
      const texts = checkTexts(input, 'key');
      const ownerId = await chooseOwner(context, input.ownerId);
      const limits = checkLimits(input, context, true);
      const data = { ...texts, ...limits, id, accountId, ownerId, digest: app.keys.digest(token) };
      const apiKey = await context.create(apiKeys, (db) => db.apiKey.create({ ...query, data }));
      return { ...apiKey, token };
    },
  }),
);

builder.mutationField('updateApiKey', (t) =>
  t.prismaField({
    type: ApiKey,
    nullable: true,
    access: { kind: null },
    description: 'Changes what an API key says of itself.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the API key.' }),
      input: t.arg({ type: UpdateApiKeyInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _, { id, input }, context) => {
      const data = { ...checkTexts(input, 'key'), ...checkLimits(input, context) };
      await checkHeld(context, id);
      const where = { id, accountId: context.accountId };
      return context.update(apiKeys, id, (db) => db.apiKey.update({ ...query, where, data }));
    },
  }),
);

deleteMutation(apiKeys, 'deleteApiKey', {
  description:
    'Revokes an API key: it is refused from the next request on, and subscriptions it opened end. Answers with its id.',
  check: checkHeld,
});

async function checkHeld(context: Context, id: string): Promise<void> {
  const where = { id, accountId: context.accountId };
  checkHolder(
    context,
    requireFound(await context.db.apiKey.findUnique({ where, select: { ownerId: true } }), 'API key'),
  );
}

const selection = 'id uri createdAt description metadata token ownerId scopes expiresAt';

export const routes = [
  route('POST', '/api_keys', 201, 'createApiKey', selection),
  ...readRoutes(apiKeys, 'keys', selection),
  route('PATCH', '/api_keys/:id', 200, 'updateApiKey', selection),
  route('DELETE', '/api_keys/:id', 204, 'deleteApiKey'),
];
