// Sections 5 and 9: what a request says of itself, at every documented path, and of whom it comes.

import { describe, expect, test } from 'vitest';
import { newId, newSecret } from '../../../src/store/ids.ts';
import type { Owner } from '../../support/gateway/gateway.ts';
import { operations, says, sentences } from '../tables.ts';
import {
  account,
  ask,
  type DoorName,
  done,
  doorNames,
  filled,
  fullAnswer,
  gateway,
  rootFields,
  titleOf,
} from '../walk.ts';

const paths = operations.map(({ call, method, path, body }) => ({
  ...{ call, method, hasBody: body.length > 0 },
  // Whom a request comes from is asked before what its path names.
  at: filled(path, { edge_id: newId('edghts'), id: newId('cr') }),
}));
const calls = paths.map((one) => [one.call, one] as const);
const [, header = '', version = ''] = /`([\w-]+): (\d+)`/.exec(sentences.get('9 header')?.sentence ?? '') ?? [];
const [, scheme = ''] = /`Authorization: (\w+) /.exec(sentences.get('5 key')?.sentence ?? '') ?? [];

/** The least that each root field takes. */
const leastInput: Record<string, string> = {
  createBotUser: 'input: { name: "x" }',
  createReservedDomain: 'input: { domain: "x" }',
  createEventDestination: 'input: { target: {} }',
  createCredential: 'input: {}',
  updateCredential: 'id: "x", input: {}',
  updateEventDestination: 'id: "x", input: {}',
  replaceHttpsEdgeRouteCircuitBreaker: 'edgeId: "x", id: "x", input: {}',
  replaceTlsEdgeMutualTls: 'id: "x", input: { certificateAuthorityIds: [] }',
};

function leastQuery(call: string): string {
  const field = rootFields[call] ?? '';
  const ids = call.includes('{edge_id}') ? 'edgeId: "x", id: "x"' : call.includes('{id}') ? 'id: "x"' : '';
  const args = leastInput[field] ?? ids;
  const selection = '{ __typename }';
  return `${call.startsWith('GET') ? 'query' : 'mutation'} { ${field}${args && `(${args})`} ${selection} }`;
}

/** Registers the checks. */
export function checkHeaders(): void {
  describe(says('5 key'), () => {
    const unknown = newSecret(newId('ak'));
    const get = (authorization: string | undefined, { method, at, hasBody } = paths[0] ?? expect.unreachable()) =>
      account.call(method, at, hasBody ? {} : undefined, { key: null, headers: { authorization } });

    test.each(calls)('%s is 401 without it', async (_, path) => {
      const { status, headers } = await get(undefined, path);
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toMatch(/^Bearer/);
    });
    test.each(calls)('%s is 401 with a key that is not known', async (_, path) => {
      expect((await get(`${scheme} ${unknown}`, path)).status).toBe(401);
    });
    test.each(['Basic', 'Token', 'Digest', ''])('the scheme is not "%s"', async (other) => {
      expect((await get(`${other} ${account.key}`.trim())).status).toBe(401);
    });
    test.each(calls)('GraphQL asks for it, too, for what is %s', async (call) => {
      const { body } = await account.graphql(leastQuery(call), {}, { key: null });
      const { extensions, message } = body.errors?.[0] ?? {};
      expect(extensions, message).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    });
    test('GraphQL refuses a key that is not known', async () => {
      const { body } = await account.graphql('{ credentials { uri } }', {}, { key: unknown });
      expect(body.errors[0].extensions).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    });
  });

  describe(`${says('5 version')} ${says('9 header')}`, () => {
    const get = (value: string | undefined) =>
      account.call('GET', '/credentials', undefined, { headers: { [header.toLowerCase()]: value } });

    test.each(calls)('%s is 400 without it', async (_, { method, at, hasBody }) => {
      const headers = { [header.toLowerCase()]: undefined };
      const { status, body } = await account.call(method, at, hasBody ? {} : undefined, { headers });
      expect({ status, msg: body.msg }).toEqual({ status: 400, msg: expect.stringContaining(header) });
    });
    test.each(['1', '3', `${version}.0`, `v${version}`, ''])('the version is not "%s"', async (other) => {
      expect((await get(other)).status).toBe(400);
    });
    test(`the version is ${version}`, async () => {
      expect((await get(version)).status).toBe(200);
    });
  });

  describe(says('5 type'), () => {
    const writing = calls.filter(([, { hasBody }]) => hasBody);
    test.each(writing)('%s is 415 with another', async (_, { method, at }) => {
      for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded']) {
        const { status } = await account.call(method, at, '{}', { headers: { 'content-type': type } });
        expect(status, String(type)).toBe(415);
      }
    });
    test.each(writing)('%s is 400 with a body that is no JSON object', async (_, { method, at }) => {
      for (const text of ['{', 'a=b', '[]', '"x"', 'null'])
        expect((await account.call(method, at, text)).status, text).toBe(400);
    });
  });

  test.each(calls)(`${says('9 paths')} %s`, async (_, { method, at, hasBody }) => {
    const { status } = await account.call(method, `/v${version}${at}`, hasBody ? {} : undefined);
    expect(status).toBe(404);
  });

  describe.each(doorNames)('whose a credential is, through %s:', (door) => {
    const createFor = (as: Owner, owner: string | undefined) =>
      ask(door, 'POST /credentials', { as, body: { owner_id: owner } });

    test(says('5 admins'), async () => {
      const member = await account.addOwner();
      const bot = await account.addOwner({ kind: 'BOT' });
      for (const { ownerId } of [member, bot])
        expect(await createFor(account, ownerId)).toMatchObject({ status: 201, body: { owner_id: ownerId } });
      for (const caller of [member, bot]) {
        const { ownerId } = caller;
        for (const own of [ownerId, undefined])
          expect(await createFor(caller, own)).toMatchObject({ status: 201, body: { owner_id: ownerId } });
        for (const other of [member, bot, account].filter((one) => one !== caller))
          expect(await createFor(caller, other.ownerId)).toMatchObject({ status: 403, body: null });
      }
    });

    test('the bot that POST /bot_users made may own one', async () => {
      const { id } = (await fullAnswer(door, 'POST /bot_users')).answer;
      expect(await createFor(account, id)).toMatchObject({ status: 201, body: { owner_id: id } });
    });

    test('owner_id is not updatable', async () => {
      const { id } = (await fullAnswer('rest', 'POST /credentials')).answer;
      const other = (await fullAnswer('rest', 'POST /bot_users')).answer.id;
      if (door === 'rest') {
        const answer = await account.call('PATCH', `/credentials/${id}`, { owner_id: other });
        expect(answer).toMatchObject({ status: 400, body: { msg: expect.stringContaining('owner_id') } });
      } else {
        const input = `{ ownerId: "${other}" }`;
        const { body } = await account.graphql(
          `mutation { updateCredential(id: "${id}", input: ${input}) { credential { id } } }`,
        );
        const refusal = { message: expect.stringContaining('ownerId'), extensions: { status: 400 } };
        expect(body.errors[0]).toMatchObject(refusal);
      }
      const { owner_id } = await done('rest', 'GET /credentials/{id}', { ids: { id } });
      expect(owner_id).toBe(account.ownerId);
    });

    test('an owner of another account is refused', async () => {
      const { ownerId } = await gateway.newAccount();
      expect(await createFor(account, ownerId)).toMatchObject({ status: 400, body: null });
    });
  });

  describe('secrets are shown once:', () => {
    test(says('5 once'), async () => {
      const byRest = (await account.call('POST', '/api_keys', {})).body;
      const created = await account.graphql('mutation { createApiKey(input: {}) { apiKey { id } token } }');
      const { apiKey, token: ofGraphql } = created.body.data.createApiKey;
      const byGraphql = { ...apiKey, token: ofGraphql };
      const list = await account.call('GET', '/api_keys');
      for (const { id, token } of [byRest, byGraphql]) {
        expect(token).toMatch(/\w{22,}/);
        const one = await account.call('GET', `/api_keys/${id}`);
        const other = await account.graphql(`{ apiKey(id: "${id}") { id description } }`);
        for (const { text } of [list, one, other]) {
          expect(text).toContain(id);
          expect(text).not.toContain(token);
        }
        expect((await account.call('GET', '/credentials', undefined, { key: token })).status).toBe(200);
      }
    });

    const doors = doorNames.flatMap((one) =>
      doorNames.map((other) => [titleOf(one), titleOf(other), one, other] as const),
    );
    test.each(doors)(
      `${says('3 token')} ${says('5 token once')} (made through %s, read through %s)`,
      async (_, __, one: DoorName, other: DoorName) => {
        const { id, token } = (await fullAnswer(one, 'POST /credentials')).answer;
        expect(token).toMatch(/\w{22,}/);
        expect((await done(other, 'GET /credentials/{id}', { ids: { id } })).token).toBeNull();
        expect((await done(other, 'PATCH /credentials/{id}', { ids: { id }, body: {} })).token).toBeNull();
        const { credentials } = (await fullAnswer(other, 'GET /credentials')).answer;
        expect(credentials.length).toBeGreaterThan(0);
        expect(credentials.filter((listed: { token: unknown }) => listed.token !== null)).toEqual([]);
      },
    );
  });
}
