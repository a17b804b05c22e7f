import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { openSecretValue } from '../../src/store/secrets/secret-values.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

const VALUE = 'open-sesame-0123456789';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

let made = 0;
const newVault = async (owner = account) =>
  (await owner.call('POST', '/vaults', { name: `vault ${++made}` })).body as { id: string; name: string };
const add = (vault: { id: string }, name: string, more: object = {}) =>
  account.call('POST', '/vault_secrets', { vault_id: vault.id, name, value: VALUE, ...more });
const stored = async (id: string) => {
  const row = await gateway.app.prisma.secret.findUniqueOrThrow({ where: { id } });
  return { sealed: row.value, value: openSecretValue(gateway.app.keys, row) };
};

describe('names', () => {
  test('of vaults are unique in an account, and of secrets in a vault', async () => {
    const vault = await newVault();
    expect(await account.call('POST', '/vaults', { name: vault.name })).toMatchObject({
      status: 409,
      body: { error_code: 'ERR_GATEWAY_90701' },
    });
    expect((await (await gateway.newAccount()).call('POST', '/vaults', { name: vault.name })).status).toBe(201);

    expect((await add(vault, 'password')).status).toBe(201);
    expect(await add(vault, 'password')).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_90703' } });
    expect((await add(await newVault(), 'password')).status).toBe(201);
    const { body: other } = await add(vault, 'another');
    const renamed = await account.call('PATCH', other.uri, { name: 'password' });
    expect(renamed).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_90703' } });
  });

  test.each([['', ' a', 'a ', 'a\nb', 'é'.repeat(128)]].flat())('%j is refused', async (name) => {
    const vault = await account.call('POST', '/vaults', { name });
    expect(vault).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90700' } });
    const secret = await add(await newVault(), name);
    expect(secret).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90700' } });
  });
});

describe('the value of a secret', () => {
  test('is stored encrypted, and no answer has it', async () => {
    const created = await add(await newVault(), 'password', { description: 'of the database' });
    expect(created.status).toBe(201);
    const { id, uri } = created.body;
    const answers = [
      created,
      await account.call('GET', uri),
      await account.call('GET', '/vault_secrets'),
      await account.call('PATCH', uri, { description: 'changed' }),
      await account.graphql('query ($id: ID!) { node(id: $id) { ... on Secret { id name vaultName } } }', { id }),
    ];
    for (const { status, text } of answers) {
      expect(status, text).toBeLessThan(300);
      expect(text).toContain(id);
      expect(text).not.toContain(VALUE);
    }
    const { value, sealed } = await stored(id);
    expect(value).toBe(VALUE);
    expect(sealed).not.toContain(VALUE);
  });

  test('stays when a change leaves it out, and cannot be moved to another row', async () => {
    const { body } = await add(await newVault(), 'password');
    for (const change of [{}, { value: '' }, { value: null }, { description: 'changed' }])
      expect((await account.call('PATCH', body.uri, change)).status).toBe(200);
    expect((await stored(body.id)).value).toBe(VALUE);
    expect((await account.call('PATCH', body.uri, { value: 'another' })).status).toBe(200);
    expect((await stored(body.id)).value).toBe('another');

    const { body: second } = await add(await newVault(), 'password');
    const { sealed } = await stored(second.id);
    await gateway.app.prisma.secret.update({ where: { id: body.id }, data: { value: sealed } });
    await expect(stored(body.id)).rejects.toThrow();
  });

  test.each([
    ['no bytes', ''],
    ['8,193 bytes', 'x'.repeat(8193)],
  ])('of %s is refused', async (_, value) => {
    const refused = await add(await newVault(), 'password', { value });
    expect(refused).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90704' } });
    expect(refused.body.msg).toContain('1 to 8192 bytes');
  });
});

test('who changed it last, and when, changes with a change, and with nothing else', async () => {
  const { body: vault } = await account.call('POST', '/vaults', { name: `vault ${++made}` });
  const { body: bot } = await account.call('POST', '/bot_users', { name: 'changes vaults' });
  const { body: key } = await account.call('POST', '/api_keys', { owner_id: bot.id });
  const by = (body: object) => account.call('PATCH', vault.uri, body, { key: key.token });
  expect((await by({})).body).toEqual(vault);
  const { body: changed } = await by({ description: 'changed' });
  expect(changed).toMatchObject({ created_by: account.ownerId, last_updated_by: bot.id });
  const { body: secret } = await account.call(
    'POST',
    '/vault_secrets',
    { vault_name: vault.name, name: 'password', value: VALUE },
    { key: key.token },
  );
  expect(secret.created_by).toEqual({ id: bot.id, uri: bot.uri });
  expect(secret.vault).toEqual({ id: vault.id, uri: vault.uri });
});

describe('the vault of a secret', () => {
  test('may be said by name; it must be one of the account, and one only', async () => {
    const [vault, other] = [await newVault(), await newVault()];
    const foreign = await newVault(await gateway.newAccount());
    const create = (body: object) =>
      account.call('POST', '/vault_secrets', { name: `secret ${++made}`, value: VALUE, ...body });
    expect((await create({ vault_name: vault.name })).body.vault.id).toBe(vault.id);
    expect((await create({ vault_name: vault.name, vault_id: vault.id })).status).toBe(201);
    const refusals: [object, number, string][] = [
      [{}, 90705, 'vault_id'],
      [{ vault_id: foreign.id }, 90706, 'vault_id'],
      [{ vault_id: 'vault_x' }, 90706, 'vault_id'],
      [{ vault_name: 'nobody has it' }, 90706, 'vault_name'],
      [{ vault_id: vault.id, vault_name: other.name }, 90707, 'vault_id'],
    ];
    for (const [body, number, member] of refusals) {
      const refused = await create(body);
      expect(refused).toMatchObject({ status: 400, body: { error_code: `ERR_GATEWAY_${number}` } });
      expect(refused.body.msg).toContain(member);
    }
  });

  test('is not deleted while it holds one', async () => {
    const vault = await newVault();
    const { body: secret } = await add(vault, 'password');
    const path = `/vaults/${vault.id}`;
    const refused = await account.call('DELETE', path);
    expect(refused).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_90702' } });
    expect(refused.body.msg).toContain('holds secrets');
    expect((await account.call('DELETE', secret.uri)).status).toBe(204);
    expect((await account.call('DELETE', path)).status).toBe(204);
  });

  test('lists its own, page by page', async () => {
    const vault = await newVault();
    for (const name of ['a', 'b', 'c']) await add(vault, name);
    await add(await newVault(), 'elsewhere');
    const { body: first } = await account.call('GET', `/vaults/${vault.id}/secrets?limit=2`);
    const names = ({ secrets }: { secrets: { name: string }[] }) => secrets.map(({ name }) => name);
    expect(names(first)).toEqual(['c', 'b']);
    const { body: next } = await account.call('GET', first.next_page_uri);
    expect(names(next)).toEqual(['a']);
    expect(next.next_page_uri).toBeNull();
    const foreign = await newVault(await gateway.newAccount());
    expect((await account.call('GET', `/vaults/${foreign.id}/secrets`)).status).toBe(404);
  });
});

test('an account has at most 100 vaults and 1,000 secrets', async () => {
  const { accountId, call } = await gateway.newAccount();
  const by = { createdBy: 'usr_1', lastUpdatedBy: 'usr_1' };
  const rows = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, i) => ({ id: newId(prefix), accountId, name: `n${i}`, ...by }));
  const vaults = rows(100, 'vault');
  await gateway.app.prisma.vault.createMany({ data: vaults });
  expect(await call('POST', '/vaults', { name: 'one more' })).toMatchObject({
    status: 409,
    body: { error_code: 'ERR_GATEWAY_90708', msg: expect.stringContaining('100 vaults') },
  });
  const vaultId = vaults[0]?.id ?? '';
  const data = rows(999, 'secret').map((row) => ({ ...row, vaultId, value: '' }));
  await gateway.app.prisma.secret.createMany({ data });
  const create = (name: string) => call('POST', '/vault_secrets', { vault_id: vaultId, name, value: VALUE });
  expect((await create('the last')).status).toBe(201);
  expect(await create('one more')).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_90708' } });
});
