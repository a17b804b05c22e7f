// Vaults: groups of secrets.

import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { rowFields } from '../../collections/notes.ts';
import { reference, WHEN_GONE } from '../../collections/references.ts';
import { named, related } from '../../collections/related.ts';
import { resource } from '../../collections/resource.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { Owner } from '../accounts/owner.ts';
import { changeBy, checkVaultName, checkVaultRoom, creationBy, MEMBERS, VAULTS_MAX } from './vault-input.ts';

const ROW = { prefix: 'vault', path: '/vaults' };

const Vault = builder.prismaObject('Vault', {
  description: 'A group of secrets, which traffic policies read with `secrets.get`.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, ROW),
    updatedAt: t.expose('updatedAt', { type: 'Timestamp', description: 'When it was changed last.' }),
    name: t.exposeString('name', { description: 'Its name, by which policies know it.' }),
    createdBy: t.exposeID('createdBy', {
      description: 'The id of the user or bot user who created it, who may be gone.',
    }),
    lastUpdatedBy: t.exposeID('lastUpdatedBy', {
      description: 'The id of the user or bot user who changed it last, who may be gone.',
    }),
    creator: t.field({
      type: Owner,
      nullable: true,
      description: `The user or bot user who created it. ${WHEN_GONE}`,
      select: { createdBy: true },
      resolve: reference(({ createdBy }) => createdBy),
    }),
    lastUpdater: t.field({
      type: Owner,
      nullable: true,
      description: `The user or bot user who changed it last. ${WHEN_GONE}`,
      select: { lastUpdatedBy: true },
      resolve: reference(({ lastUpdatedBy }) => lastUpdatedBy),
    }),
    secrets: related(t, {
      ...{ kind: 'secret', on: named('vault_id'), member: 'vault.id' },
      path: (id) => `/vaults/${id}/secrets`,
      description: 'The secrets that it holds.',
    }),
    secretCount: t.relationCount('secrets', { description: 'How many secrets it holds.' }),
  }),
});

const nameHelp = 'Its name, unique among the vaults of the account: one line of 1 to 255 bytes.';

export const { routes } = resource({
  kind: 'vault',
  model: 'Vault',
  ...ROW,
  ref: Vault,
  shows: 'id uri createdAt updatedAt name description metadata createdBy lastUpdatedBy',
  members: MEMBERS,
  audit: { name: 'vault', subject: 'A vault' },
  conflicts: { taken: 'vaultNameTaken', inUse: 'vaultInUse' },
  search: {
    ...{ rank: 165, table: 'vault', title: 't.name', detail: 't.description' },
    texts: ['t.name', ...NOTE_COLUMNS],
  },
  create: {
    description: `Creates a vault, of which an account may have ${VAULTS_MAX}.`,
    input: (t) => ({ name: t.string({ required: true, description: nameHelp }) }),
    write(input, context) {
      const { accountId } = context;
      const columns = { ...creationBy(context), name: checkVaultName('name', input.name) };
      return async (save, db) => {
        const count = () => db.vault.count({ where: { accountId } });
        await checkVaultRoom(db, accountId, { kind: 'vaults', max: VAULTS_MAX, count });
        return save(columns);
      };
    },
  },
  update: {
    description: 'Changes a vault. Policies meet another name at once.',
    input: (t) => ({
      name: t.string({
        description: `${nameHelp} "" keeps it. Policies that read secrets of it by the earlier name fail from then on.`,
      }),
    }),
    write({ name, description, metadata }, context) {
      const given = { name: name ? checkVaultName('name', name) : undefined };
      return { ...given, ...changeBy(context, [given.name, description, metadata]) };
    },
  },
  remove: {
    description: 'Deletes a vault. Answers with its id; fails with `CONFLICT` while it holds secrets.',
  },
});
