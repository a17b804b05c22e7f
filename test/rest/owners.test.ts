// Who holds a credential, and who may change what another holds.

import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, type Owner, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let admin: Account;
let member: Owner;
let bot: Owner;
beforeAll(async () => {
  gateway = await sharedGateway();
  admin = await gateway.newAccount();
  member = await admin.addOwner();
  bot = await admin.addOwner({ kind: 'BOT' });
});

test('a credential belongs to whoever creates it', async () => {
  for (const owner of [admin, member, bot]) {
    const { body } = await owner.call('POST', '/credentials', {});
    expect(body.owner_id).toBe(owner.ownerId);
  }
});

test('an admin may create a credential for any user or bot user of the account', async () => {
  for (const { ownerId } of [admin, member, bot]) {
    const created = await admin.call('POST', '/credentials', { owner_id: ownerId });
    expect(created).toMatchObject({ status: 201, body: { owner_id: ownerId } });
  }
});

test('a member and a bot user may name themselves, and nobody else', async () => {
  for (const owner of [member, bot]) {
    const own = await owner.call('POST', '/credentials', { owner_id: owner.ownerId });
    expect(own).toMatchObject({ status: 201, body: { owner_id: owner.ownerId } });
    for (const owner_id of [admin.ownerId, newId('usr'), 'x']) {
      const answer = await owner.call('POST', '/credentials', { owner_id });
      expect(answer).toMatchObject({ status: 403, body: { error_code: 'ERR_GATEWAY_630' } });
    }
  }
});

test('an owner who is unknown, of another account, inactive or malformed is refused in the same words', async () => {
  const foreign = (await gateway.newAccount()).ownerId;
  const inactive = await admin.addOwner();
  await gateway.app.prisma.owner.update({ where: { id: inactive.ownerId }, data: { active: false } });
  for (const owner_id of [newId('usr'), newId('bot'), foreign, inactive.ownerId, 'x', newId('cr')]) {
    const { status, body } = await admin.call('POST', '/credentials', { owner_id });
    expect({ status, ...body, details: null }).toEqual({
      status: 400,
      error_code: 'ERR_GATEWAY_90029',
      status_code: 400,
      msg: 'owner_id must be the id of an active user or bot user of this account.',
      details: null,
    });
  }
});

describe.each([
  ['a member', () => member],
  ['a bot user', () => bot],
])('%s', (_, caller) => {
  test('reads what others hold', async () => {
    const { body } = await admin.call('POST', '/credentials', {});
    expect((await caller().call('GET', `/credentials/${body.id}`)).status).toBe(200);
    expect((await caller().call('GET', '/credentials?limit=1')).body.credentials[0].id).toBe(body.id);
  });

  test('may not change or delete what others hold', async () => {
    const { body } = await admin.call('POST', '/credentials', { description: 'theirs' });
    const refused = { status: 403, body: { error_code: 'ERR_GATEWAY_90001' } };
    expect(await caller().call('PATCH', `/credentials/${body.id}`, { description: 'mine' })).toMatchObject(refused);
    expect(await caller().call('DELETE', `/credentials/${body.id}`)).toMatchObject(refused);
    expect((await admin.call('GET', `/credentials/${body.id}`)).body.description).toBe('theirs');
  });

  test('changes and deletes its own', async () => {
    const { body } = await caller().call('POST', '/credentials', {});
    expect((await caller().call('PATCH', `/credentials/${body.id}`, { description: 'mine' })).status).toBe(200);
    expect((await caller().call('DELETE', `/credentials/${body.id}`)).status).toBe(204);
  });

  test('is told that an unknown credential is not found, not that it may not', async () => {
    expect((await caller().call('DELETE', `/credentials/${newId('cr')}`)).status).toBe(404);
  });
});

test('an admin changes and deletes what others hold', async () => {
  const { body } = await member.call('POST', '/credentials', {});
  expect((await admin.call('PATCH', `/credentials/${body.id}`, { description: 'x' })).status).toBe(200);
  expect((await admin.call('DELETE', `/credentials/${body.id}`)).status).toBe(204);
});

test('the rules are the same in GraphQL', async () => {
  const create =
    'mutation ($ownerId: ID) { createCredential(input: { ownerId: $ownerId }) { credential { ownerId } } }';
  const made = await admin.graphql(create, { ownerId: bot.ownerId });
  expect(made.body).toEqual({ data: { createCredential: { credential: { ownerId: bot.ownerId } } } });
  const notAdmin = await member.graphql(create, { ownerId: admin.ownerId });
  expect(notAdmin.body.errors[0].extensions).toMatchObject({
    code: 'FORBIDDEN',
    errorCode: 'ERR_GATEWAY_630',
    field: 'ownerId',
  });
  const unknown = await admin.graphql(create, { ownerId: newId('usr') });
  expect(unknown.body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400, field: 'ownerId' });
});
