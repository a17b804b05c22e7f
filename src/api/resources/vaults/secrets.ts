// Secrets: texts in a vault that traffic policies use, and that no answer ever has.

import type { Db } from '../../../store/database/client.ts';
import { isId, newId } from '../../../store/ids.ts';
import { sealSecretValue } from '../../../store/secrets/secret-values.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, readRoutes } from '../../collections/collection.ts';
import { id as idMember } from '../../collections/members.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import { Secret } from './secret-type.ts';
import {
  changeBy,
  checkSecretValue,
  checkVaultName,
  checkVaultRoom,
  creationBy,
  MEMBERS,
  SECRETS_MAX,
} from './vault-input.ts';

export const secrets = collection({
  kind: 'secret',
  prefix: 'secret',
  path: '/vault_secrets',
  single: 'secret',
  plural: 'secrets',
  typeName: 'Secret',
  ref: Secret,
  members: { ...MEMBERS, 'vault.id': idMember('vaultId') },
  table: (db) => db.secret,
  audit: { name: 'secret', subject: 'A secret' },
  conflicts: { taken: 'secretNameTaken' },
  search: {
    ...{ rank: 166, table: 'secret', title: 't.name', detail: 't.description' },
    texts: ['t.name', ...NOTE_COLUMNS],
  },
});

const nameHelp = 'Its name, unique in its vault: one line of 1 to 255 bytes.';
const valueHelp = 'The secret itself, 1 to 8192 bytes. It is stored encrypted; nobody can read it afterwards.';

const CreateSecretInput = builder.inputType('CreateSecretInput', {
  description: 'A new secret. It will be in the vault that `vaultId` or `vaultName` says.',
  fields: (t) => ({
    name: t.string({ required: true, description: nameHelp }),
    value: t.string({ required: true, description: valueHelp }),
    vaultId: t.id({ description: 'The id of a vault of your account.' }),
    vaultName: t.string({ description: 'The name of a vault of your account.' }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const UpdateSecretInput = builder.inputType('UpdateSecretInput', {
  description: 'What to change; a member left out or null stays as it is. A secret stays in its vault.',
  fields: (t) => ({
    name: t.string({
      description: `${nameHelp} "" keeps it. Policies that read it by the earlier name fail from then on.`,
    }),
    value: t.string({ description: `${valueHelp} "" keeps the stored one.` }),
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
  }),
});

builder.mutationField('createSecret', (t) =>
  t.prismaField({
    type: Secret,
    nullable: true,
    access: { kind: 'secret' },
    description: `Creates a secret, of which an account may have ${SECRETS_MAX}. Policies can read it at once.`,
    args: {
      input: t.arg({ type: CreateSecretInput, required: true, description: 'The secret.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId, app } = context;
      const row = { id: newId(secrets.prefix), accountId };
      const name = checkVaultName('name', input.name);
      const value = sealSecretValue(app.keys, row, checkSecretValue(input.value));
      const columns = { ...row, ...checkTexts(input), ...creationBy(context), name, value };
      return context.create(secrets, async (db) => {
        const count = () => db.secret.count({ where: { accountId } });
        await checkVaultRoom(db, accountId, { kind: 'secrets', max: SECRETS_MAX, count });
        return db.secret.create({ ...query, data: { ...columns, vaultId: await findVault(db, context, input) } });
      });
    },
  }),
);

builder.mutationField('updateSecret', (t) =>
  t.prismaField({
    type: Secret,
    nullable: true,
    access: { kind: 'secret' },
    description: 'Changes a secret. Policies meet another value at once.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the secret.' }),
      input: t.arg({ type: UpdateSecretInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const given = {
        ...checkTexts(input),
        name: input.name ? checkVaultName('name', input.name) : undefined,
        value: input.value ? sealSecretValue(context.app.keys, where, checkSecretValue(input.value)) : undefined,
      };
      const data = { ...given, ...changeBy(context, given) };
      return context.update(secrets, id, (db) => db.secret.update({ ...query, where, data }));
    },
  }),
);

deleteMutation(secrets, 'deleteSecret', {
  description:
    'Deletes a secret. Answers with its id. Policies that read it (`usedBy`) turn visitors away from then on.',
});

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

/** What REST shows of a secret. */
export const SECRET_SELECTION =
  'id uri createdAt updatedAt name description metadata createdBy { id uri } lastUpdatedBy { id uri } ' +
  'vault { id uri } vaultName';

export const routes = [
  route('POST', '/vault_secrets', 201, 'createSecret', SECRET_SELECTION),
  ...readRoutes(secrets, 'secrets', SECRET_SELECTION),
  route('PATCH', '/vault_secrets/:id', 200, 'updateSecret', SECRET_SELECTION),
  route('DELETE', '/vault_secrets/:id', 204, 'deleteSecret'),
];
