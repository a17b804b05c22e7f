// Vaults: groups of secrets.

import { newId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import { changeBy, checkVaultName, checkVaultRoom, creationBy, MEMBERS, VAULTS_MAX } from './vault-input.ts';

const Vault = builder.prismaObject('Vault', {
  description: 'A group of secrets, which traffic policies read with `secrets.get`.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `vault_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/vaults/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'Timestamp', description: 'When it was changed last.' }),
    name: t.exposeString('name', { description: 'Its name, by which policies know it.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    createdBy: t.exposeID('createdBy', {
      description: 'The id of the user or bot user who created it, who may be gone.',
    }),
    lastUpdatedBy: t.exposeID('lastUpdatedBy', {
      description: 'The id of the user or bot user who changed it last, who may be gone.',
    }),
    secretCount: t.relationCount('secrets', { description: 'How many secrets it holds.' }),
  }),
});

const vaults = collection({
  kind: 'vault',
  prefix: 'vault',
  path: '/vaults',
  single: 'vault',
  plural: 'vaults',
  typeName: 'Vault',
  ref: Vault,
  members: MEMBERS,
  table: (db) => db.vault,
  audit: { name: 'vault', subject: 'A vault' },
  conflicts: { taken: 'vaultNameTaken', inUse: 'vaultInUse' },
  search: {
    ...{ rank: 165, table: 'vault', title: 't.name', detail: 't.description' },
    texts: ['t.name', ...NOTE_COLUMNS],
  },
});

const nameHelp = 'Its name, unique among the vaults of the account: one line of 1 to 255 bytes.';

const CreateVaultInput = builder.inputType('CreateVaultInput', {
  description: 'A new vault.',
  fields: (t) => ({
    name: t.string({ required: true, description: nameHelp }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const UpdateVaultInput = builder.inputType('UpdateVaultInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    name: t.string({
      description: `${nameHelp} "" keeps it. Policies that read secrets of it by the earlier name fail from then on.`,
    }),
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
  }),
});

builder.mutationField('createVault', (t) =>
  t.prismaField({
    type: Vault,
    nullable: true,
    access: { kind: 'vault' },
    description: `Creates a vault, of which an account may have ${VAULTS_MAX}.`,
    args: {
      input: t.arg({ type: CreateVaultInput, required: true, description: 'The vault.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId } = context;
      const name = checkVaultName('name', input.name);
      const data = { ...checkTexts(input), ...creationBy(context), id: newId(vaults.prefix), accountId, name };
      return context.create(vaults, async (db) => {
        const count = () => db.vault.count({ where: { accountId } });
        await checkVaultRoom(db, accountId, { kind: 'vaults', max: VAULTS_MAX, count });
        return db.vault.create({ ...query, data });
      });
    },
  }),
);

builder.mutationField('updateVault', (t) =>
  t.prismaField({
    type: Vault,
    nullable: true,
    access: { kind: 'vault' },
    description: 'Changes a vault. Policies meet another name at once.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the vault.' }),
      input: t.arg({ type: UpdateVaultInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const given = { ...checkTexts(input), name: input.name ? checkVaultName('name', input.name) : undefined };
      const data = { ...given, ...changeBy(context, given) };
      return context.update(vaults, id, (db) => db.vault.update({ ...query, where, data }));
    },
  }),
);

deleteMutation(vaults, 'deleteVault', {
  description: 'Deletes a vault. Answers with its id; fails with `CONFLICT` while it holds secrets.',
});

const selection = 'id uri createdAt updatedAt name description metadata createdBy lastUpdatedBy';

export const routes = [
  route('POST', '/vaults', 201, 'createVault', selection),
  ...readRoutes(vaults, 'vaults', selection),
  route('PATCH', '/vaults/:id', 200, 'updateVault', selection),
  route('DELETE', '/vaults/:id', 204, 'deleteVault'),
];
