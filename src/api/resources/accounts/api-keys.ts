// API keys: what clients of this API prove themselves with (specification section 5).

import { newSecret } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { showOnce } from '../../builder/payloads.ts';
import { KINDS_NEVER_WRITTEN, OWN_SCOPES, SCOPE } from '../../builder/root-fields.ts';
import { Node } from '../../collections/collection.ts';
import { id, NOTED_MEMBERS, time } from '../../collections/members.ts';
import { registeredResources } from '../../collections/nodes.ts';
import { KEY_NOTES, rowFields } from '../../collections/notes.ts';
import { requiredReference } from '../../collections/references.ts';
import { resource } from '../../collections/resource.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';
import { snakeCase } from '../../naming.ts';
import { searchByNotes } from '../../resource.ts';
import { checkHolder, chooseOwner, Owner } from './owner.ts';

const ROW = { prefix: 'ak', path: '/api_keys' };

const ApiKey = builder.prismaObject('ApiKey', {
  description: 'A key to this API.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, { ...ROW, notes: KEY_NOTES }),
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
    owner: t.field({
      type: Owner,
      description: 'The user or bot user who holds it.',
      select: { ownerId: true },
      resolve: requiredReference(({ ownerId }) => ownerId),
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'Timestamp',
      nullable: true,
      description:
        'The minute in which it was last accepted, which is known a few seconds later; null when it never was. No event ' +
        'and no change tells of it.',
    }),
  }),
});

const SCOPES_MAX = 50;
const SCOPES =
  'What it may do, as in `read`, `reserved_domain:read`, `tls_edge:write`, `credential:write:cr_…`; at most 50. Empty: all.';

export const apiKeys = resource({
  kind: 'apiKey',
  model: 'ApiKey',
  ...ROW,
  ref: ApiKey,
  notes: KEY_NOTES,
  listKey: 'keys',
  shows: 'id uri createdAt description metadata token ownerId scopes expiresAt',
  members: {
    ...NOTED_MEMBERS,
    owner_id: id('ownerId', { isOrdered: true }),
    last_used_at: time('lastUsedAt', { isNullable: true }),
    expires_at: time('expiresAt', { isNullable: true, isOrdered: false }),
  },
  audit: { name: 'api_key', subject: 'An API key' },
  search: searchByNotes(50, 'api_key'),
  create: {
    secrets: { token: 'The key itself. Only the answer to `createApiKey` has it; nobody can read it afterwards.' },
    description:
      'Creates an API key with the rights of its owner, or some of them. Its `token` is shown here and never again.',
    note: 'Every member may be left out.',
    input: (t) => ({
      ownerId: t.id({ description: 'Who is to hold it; you, when left out. Only admins may name another.' }),
      scopes: t.stringList({ description: SCOPES }),
      expiresAt: t.field({ type: 'Timestamp', description: 'Until when it is accepted; for good, when left out.' }),
    }),
    async write(input, context, id) {
      const token = newSecret(id);
      const { ownerId, limits } = await checkAll({
        ownerId: () => chooseOwner(context, input.ownerId),
        limits: () => checkLimits(input, context, true),
      });
      const columns = { ...limits, ownerId, digest: context.app.keys.digest(token) };
      return async (save) => showOnce(await save(columns), { token });
    },
  },
  update: {
    description: 'Changes what an API key says of itself.',
    input: (t) => ({
      scopes: t.stringList({ description: `${SCOPES} Replaces the whole list.` }),
      expiresAt: t.field({ type: 'Timestamp', description: 'Until when it is accepted from now on.' }),
    }),
    async write(input, context, id) {
      const columns = checkLimits(input, context);
      await checkHeld(context, id);
      return columns;
    },
  },
  remove: {
    description:
      'Revokes an API key: it is refused from the next request on, and subscriptions it opened end. Answers with its id.',
    check: checkHeld,
  },
});

export const { routes } = apiKeys;

interface Limits {
  scopes?: readonly string[] | null;
  expiresAt?: Date | null;
}

/** @throws {ApiError} when a scope is none, or the key would outlive the one that asks. */
function checkLimits({ scopes, expiresAt }: Limits, { app, caller: { keyExpiresAt } }: Context, isNew = false) {
  const latest = keyExpiresAt ?? Number.POSITIVE_INFINITY;
  const at = expiresAt?.getTime() ?? (isNew ? Number.POSITIVE_INFINITY : undefined);
  return checkAll({
    expiresAt() {
      if (at !== undefined && (at <= app.now() || at > latest))
        throw new ApiError('badExpiry', { member: 'expiresAt' });
      return expiresAt ?? undefined;
    },
    scopes: () => (scopes ? readScopes(scopes) : undefined),
  });
}

/**
 * The scopes that a key is to have.
 * @throws {ApiError} naming those that are none.
 */
function readScopes(scopes: readonly string[]): string[] {
  if (scopes.length > SCOPES_MAX) throw new ApiError('tooManyScopes', { member: 'scopes', max: SCOPES_MAX });
  const kinds = new Map(registeredResources().map(({ kind }) => [snakeCase(kind), kind]));
  checkEach(scopes, (scope, index) => {
    if (scope === 'read' || OWN_SCOPES.some((own) => own === scope)) return;
    const [, resource = '', access] = SCOPE.exec(scope) ?? [];
    const kind = kinds.get(resource);
    if (kind === undefined || (access === 'write' && KINDS_NEVER_WRITTEN.has(kind)))
      throw new ApiError('badScope', { member: `scopes[${index}]` });
  });
  return [...new Set(scopes)];
}

/** As for credentials: the write itself fails when there is none. */
async function checkHeld(context: Context, id: string): Promise<void> {
  if (context.caller.isAdmin) return;
  const where = { id, accountId: context.accountId };
  checkHolder(
    context,
    requireFound(await context.db.apiKey.findUnique({ where, select: { ownerId: true } }), 'API key'),
  );
}
