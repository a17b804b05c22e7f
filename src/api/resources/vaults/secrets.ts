// Secrets: texts in a vault that traffic policies use, and that no answer ever has.

import type { Db } from '../../../store/database/client.ts';
import { isId } from '../../../store/ids.ts';
import { sealSecretValue } from '../../../store/secrets/secret-values.ts';
import { id as idMember } from '../../collections/members.ts';
import { resource } from '../../collections/resource.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { SECRET_ROW, Secret } from './secret-type.ts';
import {
  changeBy,
  checkSecretValue,
  checkVaultName,
  checkVaultRoom,
  creationBy,
  MEMBERS,
  SECRETS_MAX,
} from './vault-input.ts';

/** What REST shows of a secret. */
export const SECRET_SELECTION =
  'id uri createdAt updatedAt name description metadata createdBy { id uri } lastUpdatedBy { id uri } ' +
  'vault { id uri } vaultName';

const nameHelp = 'Its name, unique in its vault: one line of 1 to 255 bytes.';
const valueHelp = 'The secret itself, 1 to 8192 bytes. It is stored encrypted; nobody can read it afterwards.';

export const secrets = resource({
  kind: 'secret',
  model: 'Secret',
  ...SECRET_ROW,
  ref: Secret,
  shows: SECRET_SELECTION,
  members: { ...MEMBERS, 'vault.id': idMember('vaultId') },
  audit: { name: 'secret', subject: 'A secret' },
  conflicts: { taken: 'secretNameTaken' },
  search: {
    ...{ rank: 166, table: 'secret', title: 't.name', detail: 't.description' },
    texts: ['t.name', ...NOTE_COLUMNS],
  },
  create: {
    description: `Creates a secret, of which an account may have ${SECRETS_MAX}. Policies can read it at once.`,
    note: 'It will be in the vault that `vaultId` or `vaultName` says.',
    input: (t) => ({
      name: t.string({ required: true, description: nameHelp }),
      value: t.string({ required: true, description: valueHelp }),
      vaultId: t.id({ description: 'The id of a vault of your account.' }),
      vaultName: t.string({ description: 'The name of a vault of your account.' }),
    }),
    write: (input, context, id) => async (save, db) => {
      const { accountId, app } = context;
      const count = () => db.secret.count({ where: { accountId } });
      const { room: _, ...columns } = await checkAll({
        name: () => checkVaultName('name', input.name),
        value: () => sealSecretValue(app.keys, { id, accountId }, checkSecretValue(input.value)),
        room: () => checkVaultRoom(db, accountId, { kind: 'secrets', max: SECRETS_MAX, count }),
        vaultId: () => findVault(db, context, input),
      });
      return save({ ...creationBy(context), ...columns });
    },
  },
  update: {
    description: 'Changes a secret. Policies meet another value at once.',
    note: 'A secret stays in its vault.',
    input: (t) => ({
      name: t.string({
        description: `${nameHelp} "" keeps it. Policies that read it by the earlier name fail from then on.`,
      }),
      value: t.string({ description: `${valueHelp} "" keeps the stored one.` }),
    }),
    write(input, context, id) {
      const { accountId, app } = context;
      const { name, value } = input;
      const given = checkAll({
        name: () => (name ? checkVaultName('name', name) : undefined),
        value: () => (value ? sealSecretValue(app.keys, { id, accountId }, checkSecretValue(value)) : undefined),
      });
      return { ...given, ...changeBy(context, [given.name, given.value, input.description, input.metadata]) };
    },
  },
  remove: {
    parent: { kind: 'vault', column: 'vaultId' },
    description:
      'Deletes a secret. Answers with its id. Policies that read it (`usedBy`) turn visitors away from then on.',
  },
});

export const { routes } = secrets;

/** The id of the vault that an input names. It is locked, so that it is not deleted meanwhile. @throws {ApiError} */
async function findVault(
  db: Db,
  { accountId }: Context,
  { vaultId, vaultName }: { vaultId?: string | null; vaultName?: string | null },
): Promise<string> {
  if (!vaultId && !vaultName) throw new ApiError('vaultMissing', { member: 'vaultId', other: 'vaultName' });
  const member = vaultId ? 'vaultId' : 'vaultName';
  const vault = vaultId
    ? isId('vault', vaultId) && (await db.vault.findUnique({ where: { id: vaultId, accountId } }))
    : await db.vault.findUnique({ where: { accountId_name: { accountId, name: vaultName ?? '' } } });
  if (!vault) throw new ApiError('unknownVault', { member });
  if (vaultName && vault.name !== vaultName) throw new ApiError('vaultsDiffer', { member, other: 'vaultName' });
  return vault.id;
}
