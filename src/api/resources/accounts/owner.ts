// Who holds API keys and credentials: users and bot users, which are rows of one table.

import { builder } from '../../builder/builder.ts';
import { Node, resourceOf } from '../../collections/nodes.ts';
import { uriField } from '../../collections/notes.ts';
import { named, related } from '../../collections/related.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { SearchColumns } from '../../resource.ts';

export const Owner = builder.prismaInterface('Owner', {
  name: 'Owner',
  description: 'Who can hold API keys and credentials: a user or a bot user.',
  interfaces: [Node],
  resolveType: ({ id }) => resourceOf(id)?.typeName,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `usr_…` or `bot_…`.' }),
    uri: uriField(t, (id) => resourceOf(id)?.path ?? ''),
    active: t.exposeBoolean('active', { description: 'Whether its API keys and credentials are accepted.' }),
    mayReadBodies: t.boolean({
      description:
        'Whether it may read the bodies of captured requests, and replay them. Admins always may; others when an admin ' +
        'gave them the right.',
      select: { role: true, mayReadBodies: true },
      resolve: ({ role, mayReadBodies }) => role === 'ADMIN' || mayReadBodies,
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    apiKeys: related(t, {
      ...{ kind: 'apiKey', on: named('owner_id'), member: 'owner_id' },
      description: 'The API keys that it holds.',
    }),
    credentials: related(t, {
      ...{ kind: 'credential', on: named('owner_id'), member: 'owner_id' },
      description: 'The credentials that it holds, those of provisioned devices among them.',
    }),
    provisioningKeys: related(t, {
      ...{ kind: 'provisioningKey', on: named('owner_id'), member: 'owner_id' },
      description: 'The provisioning keys that it holds.',
    }),
  }),
});

/**
 * Whose a new key or credential will be: the caller's, unless an admin names another active owner of the account.
 * @throws {ApiError}
 */
export async function chooseOwner(
  { caller, db, accountId }: Context,
  ownerId: string | null | undefined,
): Promise<string> {
  if (!ownerId || ownerId === caller.ownerId) return caller.ownerId;
  if (!caller.isAdmin) throw new ApiError('notYourOwner', { member: 'ownerId' });
  const owner = await db.owner.findUnique({ where: { id: ownerId, accountId, active: true }, select: { id: true } });
  if (!owner) throw new ApiError('unknownOwner', { member: 'ownerId' });
  return owner.id;
}

/** Whether the caller may act on what this owner holds. @param ownerId undefined: nobody holds it any more. */
export function mayActFor({ caller }: Context, ownerId: string | undefined): boolean {
  return caller.isAdmin || ownerId === caller.ownerId;
}

/** @throws {ApiError} when the caller may not change what this owner holds. */
export function checkHolder(context: Context, { ownerId }: { ownerId: string }): void {
  if (!mayActFor(context, ownerId)) throw new ApiError('notYours');
}

/** Where the search finds the owners of one kind. */
export const ownerSearch = (rank: number, kind: 'BOT' | 'USER'): SearchColumns => ({
  ...{ rank, table: 'owner', title: 't.subject', where: `t.kind = '${kind}'` },
  detail: `lower(t.role::text) || CASE WHEN t.active THEN '' ELSE ', deactivated' END`,
  texts: ['t.subject'],
});
