// Secrets as the API shows them: all of them but the value.

import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { rowFields } from '../../collections/notes.ts';
import {
  ALWAYS_NAMED,
  reference,
  references,
  requiredReference,
  typeOfKind,
  WHEN_GONE,
} from '../../collections/references.ts';
import { PolicyHost } from '../../modules/interfaces.ts';
import { Owner } from '../accounts/owner.ts';
import { usesOfSecret } from './secret-uses.ts';

export const SECRET_ROW = { prefix: 'secret', path: '/vault_secrets' };

export const Secret = builder.prismaObject('Secret', {
  description:
    "A text in a vault that traffic policies read with `secrets.get('vault', 'secret')`. Its value is written, and never shown.",
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, SECRET_ROW),
    updatedAt: t.expose('updatedAt', {
      type: 'Timestamp',
      description: 'When it was changed last, its value or what is noted of it.',
    }),
    name: t.exposeString('name', { description: 'Its name, by which policies know it in its vault.' }),
    createdBy: t.field({
      type: Owner,
      ...ALWAYS_NAMED,
      description: `The user or bot user who created it. ${WHEN_GONE}`,
      select: { createdBy: true },
      resolve: reference(({ createdBy }) => createdBy),
    }),
    lastUpdatedBy: t.field({
      type: Owner,
      ...ALWAYS_NAMED,
      description: `The user or bot user who changed it last. ${WHEN_GONE}`,
      select: { lastUpdatedBy: true },
      resolve: reference(({ lastUpdatedBy }) => lastUpdatedBy),
    }),
    vault: t.field({
      type: typeOfKind('vault'),
      description: 'The vault that it is in.',
      select: { vaultId: true },
      resolve: requiredReference(({ vaultId }) => vaultId),
    }),
    vaultName: t.string({
      description: 'The name of its vault.',
      select: { vault: { select: { name: true } } },
      resolve: ({ vault }) => vault.name,
    }),
    usedBy: t.field({
      type: [PolicyHost],
      description:
        'The routes, edges and cloud endpoints whose traffic policies read it: without it, they turn visitors away. Policies of ' +
        'tunnels, which are with their agents, are not among them, and of an account at most 1000 policies are looked through.',
      select: { name: true, vault: { select: { name: true } } },
      resolve: references(({ name, vault }, context) => usesOfSecret(context, { vault: vault.name, name })),
    }),
  }),
});
