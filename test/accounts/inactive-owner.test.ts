// Generated over the schema and the table of routes: who was shut out is a stranger everywhere.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCode } from '../../src/api/errors/error-code.ts';
import { routes } from '../../src/api/schema.ts';
import { newId, newSecret } from '../../src/store/ids.ts';
import { type Owner, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import type { Answer } from '../support/gateway/http.ts';
import { subscribe } from '../support/gateway/sse.ts';
import { shortened } from '../support/shortened.ts';
import { allowsAnonymous, argumentsOf, fieldNamed, mutations, queries, subscriptions } from './operations.ts';
import { documentOf, requestOf } from './requests.ts';
import { everyRow, fill, type Holder } from './sample-resources.ts';

let gateway: TestGateway;
let holder: Holder;
/** An admin who was deactivated, and a bot user who was made inactive; both have used their keys before. */
let shutOut: Owner[];
let before: string[];
const never = newSecret(newId('ak'));

beforeAll(async () => {
  gateway = await startTestGateway();
  holder = await fill(gateway, await gateway.newAccount());
  const { account } = holder;
  const user = await account.addOwner({ role: 'ADMIN' });
  const bot = await account.addOwner({ kind: 'BOT' });
  shutOut = [user, bot];
  for (const { call } of shutOut) expect((await call('GET', '/credentials')).status).toBe(200);
  const { body } = await account.graphql(
    `mutation ($user: ID!, $bot: ID!) {
      deactivateUser(id: $user) { user { active } }
      updateBotUser(id: $bot, input: { active: false }) { botUser { active } }
    }`,
    { user: user.ownerId, bot: bot.ownerId },
  );
  expect(body.data).toEqual({
    deactivateUser: { user: { active: false } },
    updateBotUser: { botUser: { active: false } },
  });
  before = await everyRow(gateway);
});
afterAll(() => gateway.close());

/** What a client can see of an answer, but for the operation id. */
const seen = ({ status, headers, text }: Answer) => ({
  status,
  challenge: headers['www-authenticate'],
  text: text.replaceAll(String(headers['service-operation-id']), 'op_…'),
});

/** The same code admits all operations: `npm test` asks a few at each door. */
const FEW = 10;

describe('REST', () => {
  test.each(shortened(routes, FEW))(
    '$method $path refuses a key of an inactive owner as one that never was',
    async (row) => {
      const request = requestOf(row, argumentsOf(fieldNamed(row.field), holder));
      const dialect = row.extended?.isOnly ? 'extended' : 'documented';
      const stranger = await gateway.call(row.method, request.path, request.body, { dialect, key: never });
      for (const { call } of shutOut) {
        const answer = await call(row.method, request.path, request.body, { dialect });
        expect(answer).toMatchObject({ status: 401, body: { error_code: errorCode(203, dialect) } });
        expect(seen(answer)).toEqual(seen(stranger));
      }
    },
  );
});

describe('GraphQL', () => {
  const others = [...mutations, ...queries].filter((field) => !allowsAnonymous(field));
  test.each(shortened(others, FEW))('$name refuses a key of an inactive owner as one that never was', async (field) => {
    const values = argumentsOf(field, holder);
    const document = documentOf(field, values);
    const stranger = await gateway.graphql(document, values, { key: never });
    for (const { graphql } of shutOut) {
      const answer = await graphql(document, values);
      expect(answer.body.errors[0].extensions).toMatchObject({
        code: 'UNAUTHENTICATED',
        errorCode: 'ERR_GATEWAY_203',
      });
      expect(answer.body.data?.[field.name]).toBeFalsy();
      expect(seen(answer)).toEqual(seen(stranger));
    }
  });

  test.each(shortened(subscriptions, FEW))('$name tells nothing to a key of an inactive owner', async (field) => {
    const values = argumentsOf(field, holder);
    for (const { key } of shutOut) {
      const opened = await subscribe(gateway.api, key, documentOf(field, values), values).catch(() => undefined);
      const first = await opened?.next();
      opened?.close();
      if (first) expect(first).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    }
  });
});

test('what was refused left every row as it was', async () => {
  expect(await everyRow(gateway)).toEqual(before);
});
