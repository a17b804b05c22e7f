// Vaults and their secrets.

import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { crud, texts } from './crud.ts';
import { row, unique } from './rows.ts';

const by = (world: World) => expected.refTo(world, '/users', world.account.ownerId);

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const vault = (world: World, got: any, own: object) => ({
  ...expected.common(world, 'vault', '/vaults', got),
  updated_at: expected.time,
  created_by: world.account.ownerId,
  last_updated_by: world.account.ownerId,
  name: got?.name,
  ...own,
});

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const secret = (world: World, got: any, own: object) => ({
  ...expected.common(world, 'secret', '/vault_secrets', got),
  updated_at: expected.time,
  created_by: by(world),
  last_updated_by: by(world),
  vault: expected.refTo(world, '/vaults', world.ids.vault),
  vault_name: 'vault of the world',
  name: got?.name,
  ...own,
});

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const listed = (world: World, [got]: any[]) => [
  secret(world, got, { id: world.ids.secret, name: 'secret of the world' }),
];

export const vaultRows = [
  ...crud({
    ...{ path: '/vaults', single: 'vault', plural: 'vaults', key: 'vaults' },
    shape: shapes.vault,
    make: vault,
    body: (_, door) => ({ ...texts, name: `vault ${door}` }),
    shown: () => texts,
    change: { description: 'changed' },
    listed: (world, got) => [vault(world, got[0], { id: world.ids.vault, name: 'vault of the world' })],
  }),
  ...crud({
    ...{ path: '/vault_secrets', single: 'secret', plural: 'secrets', key: 'secrets' },
    shape: shapes.secret,
    make: secret,
    body: ({ ids }, door) => ({ ...texts, vault_id: ids.vault, name: unique(`secret ${door}`), value: 'hidden' }),
    shown: () => texts,
    change: { value: 'another', description: 'changed' },
    changed: { description: 'changed' },
    listed,
  }),
  row('GET /vaults/{vault_id}/secrets', 200, 'vaultSecrets', {
    shape: shapes.secret,
    list: 'secrets',
    at: ({ ids }) => ({ vault_id: ids.vault }),
    answer: (world, got) =>
      expected.list(world, 'secrets', `/vaults/${world.ids.vault}/secrets`, listed(world, got.secrets)),
  }),
];
