// Credentials and API keys are given to another owner, in bulk alone. Only admins may.

import { changeOperation } from '../../collections/bulk-change.ts';
import { bulkOperation } from '../../collections/bulk-operations.ts';
import type { Route } from '../../route.ts';
import { apiKeys } from '../accounts/api-keys.ts';
import { chooseOwner } from '../accounts/owner.ts';
import { credentials } from '../credentials/credentials.ts';

const target = (before: string, { ownerId }: { ownerId: string | null }) => ownerId ?? before;
const adminsOnly = 'adminsOnly';

const credentialOwner = changeOperation<string>({
  ...{ kind: credentials.kind, table: 'credential', adminsOnly, target },
  async read({ db, accountId }, id) {
    const row = await db.credential.findUnique({ where: { id, accountId }, select: { ownerId: true } });
    return row?.ownerId ?? null;
  },
  async write(context, id, owner) {
    const data = { ownerId: await chooseOwner(context, owner) };
    const where = { id, accountId: context.accountId };
    await context.update(credentials, id, (db) => db.credential.update({ where, data, select: { id: true } }));
  },
});

const apiKeyOwner = changeOperation<string>({
  ...{ kind: apiKeys.kind, table: 'api_key', adminsOnly, target },
  async read({ db, accountId }, id) {
    const row = await db.apiKey.findUnique({ where: { id, accountId }, select: { ownerId: true } });
    return row?.ownerId ?? null;
  },
  async write(context, id, owner) {
    const data = { ownerId: await chooseOwner(context, owner) };
    const where = { id, accountId: context.accountId };
    await context.update(apiKeys, id, (db) => db.apiKey.update({ where, data, select: { id: true } }));
  },
});

bulkOperation(credentials.kind, 'CHANGE_OWNER', credentialOwner);
bulkOperation(apiKeys.kind, 'CHANGE_OWNER', apiKeyOwner);

export const routes: Route[] = [];
