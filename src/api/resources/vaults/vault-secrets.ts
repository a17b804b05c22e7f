// The secrets of one vault.

import { queryFromInfo } from '@pothos/plugin-prisma';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { listArguments, readList } from '../../collections/list.ts';
import { tableOf } from '../../collections/nodes.ts';
import { connectionOf } from '../../collections/page.ts';
import { requireFound } from '../../errors/errors.ts';
import { type Route, route } from '../../route.ts';
import { Secret } from './secret-type.ts';
import { SECRET_SELECTION, secrets } from './secrets.ts';

builder.queryField('vaultSecrets', (t) =>
  t.field({
    type: connectionOf(Secret, 'VaultSecret'),
    nullable: true,
    access: { kind: 'vault' },
    description:
      'The secrets of one vault, the newest first unless you ask for another order. Fails with `NOT_FOUND` when your account ' +
      'has no such vault.',
    args: {
      vaultId: t.arg.id({ required: true, description: 'The id of the vault: `vault_…`.' }),
      ...listArguments('Secret', secrets.members),
    },
    resolve: async (_, { vaultId, ...args }, context, info) => {
      const { accountId, db } = context;
      const where = { id: vaultId, accountId };
      requireFound(isId('vault', vaultId) ? await db.vault.findUnique({ where, select: { id: true } }) : null, 'vault');
      const query = queryFromInfo({ context, info, typeName: 'Secret', paths: [['nodes'], ['edges', 'node']] });
      const { prefix, members } = secrets;
      const source = { prefix, members, path: `/vaults/${vaultId}/secrets`, table: tableOf(secrets, db) };
      return readList({ ...source, scope: { accountId, vaultId } }, args, context, query);
    },
  }),
);

export const routes: Route[] = [
  route(
    'GET',
    '/vaults/:vault_id/secrets',
    200,
    'vaultSecrets',
    `secrets: nodes { ${SECRET_SELECTION} } uri nextPageUri`,
  ),
];
