// What strangers can make the API do: little, and not often.

import { executeSync, getIntrospectionQuery, type IntrospectionOptions, lexicographicSortSchema, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/api/schema.ts';
import { newId, newSecret } from '../../src/store/ids.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const LIMIT = 12;
const START = Date.parse('2026-11-22T09:00:00Z');
const MINUTE = 60_000;

let gateway: TestGateway;
let account: Account;
let clock = START;
beforeAll(async () => {
  gateway = await startTestGateway({ STRANGER_RATE_LIMIT: String(LIMIT) }, { counting: true, now: () => clock });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

/** A minute in which nobody has asked yet. */
const nextMinute = () => {
  clock += MINUTE;
};
const wrongKey = () => newSecret(newId('ak'));
const asked = (table: string) => gateway.statements.filter((text) => text.includes(`FROM "public"."${table}"`)).length;
const lookUps = () => asked('api_key') + asked('credential');
const refused = { status: 429, headers: { 'retry-after': '60' }, body: { error_code: 'ERR_GATEWAY_90301' } };
const ask = (key: string | null) => gateway.call('GET', '/credentials', undefined, { key });
const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ');

describe('requests without a valid key are counted by address:', () => {
  test.each([
    ['without any', () => null],
    ['with one that is no key', () => 'short'],
    ['with keys that never were', wrongKey],
  ])('%s', async (_, key) => {
    nextMinute();
    for (let sent = 0; sent < LIMIT; sent++) expect((await ask(key())).status).toBe(401);
    expect(await ask(key())).toMatchObject(refused);
    const graphql = await gateway.graphql('{ __typename }', {}, { key: null });
    expect(graphql.body.errors[0].extensions).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    const byGet = await fetch(`${gateway.api}/graphql?query={__typename}`, { headers: { accept: 'application/json' } });
    expect(byGet.status).toBe(429);
    nextMinute();
    expect((await ask(key())).status).toBe(401);
  });

  test('who has a valid key behind the same address never hears of it', async () => {
    const waiting = await account.addOwner();
    nextMinute();
    expect((await account.call('GET', '/credentials')).status).toBe(200);
    for (let sent = 0; sent <= LIMIT; sent++) await ask(null);
    expect(await ask(null)).toMatchObject(refused);
    clock += 10_000; // What was known of the key is not trusted any more.
    expect((await account.call('GET', '/credentials')).status).toBe(200);
    expect((await waiting.call('GET', '/credentials')).status).toBe(200);
  });

  test('unknown keys of an address that sent too many are no longer looked up, save a few', async () => {
    nextMinute();
    for (let sent = 0; sent <= LIMIT; sent++) await ask(wrongKey());
    gateway.statements.length = 0;
    for (let sent = 0; sent < 50; sent++) expect((await ask(wrongKey())).status).toBe(429);
    expect(lookUps()).toBeLessThanOrEqual(2 * 5);
  });

  test('a key that was refused is not looked up again at once', async () => {
    nextMinute();
    const key = wrongKey();
    await ask(key);
    gateway.statements.length = 0;
    for (let sent = 0; sent < 5; sent++) expect((await ask(key)).body.error_code).toBe('ERR_GATEWAY_203');
    expect(lookUps()).toBe(0);
  });
});

describe('introspection', () => {
  const stranger = { key: null };
  const ask = (query: string) => gateway.graphql(query, {}, stranger);
  beforeAll(nextMinute);

  test.each<[string, IntrospectionOptions | undefined, (query: string) => string]>([
    ['as graphql-js makes it', undefined, (query) => query],
    ['as its older versions made it', undefined, (query) => query.replaceAll('Type { name kind }', 'Type { name }')],
    ['with all options', { specifiedByUrl: true, oneOf: true, inputValueDeprecation: true }, (query) => query],
    ['without descriptions', { descriptions: false }, (query) => query],
    [
      'in one line, under another name',
      undefined,
      (query) => query.replace(/\s+/g, ' ').replace('query Intr', 'query X'),
    ],
  ])('in its standard form, %s, is answered as ever', async (_, options, form) => {
    const query = form(getIntrospectionQuery(options));
    const { body } = await ask(query);
    const known = await account.graphql(`query Other { viewer { isAdmin } } ${query}`, {}, {});
    expect(body.errors).toBeUndefined();
    expect(known.body.errors[0].message).toMatch(/operationName/);
    // As in schema.graphql.
    const executed = executeSync({ schema: lexicographicSortSchema(schema), document: parse(query) });
    expect(body).toEqual(JSON.parse(JSON.stringify(executed)));
  });

  test.each([
    '{ __schema { queryType { name } } }',
    '{ __type(name: "Credential") { name fields { name type { name } } } }',
    '{ __typename }',
  ])('%s is answered', async (query) => {
    expect((await ask(query)).body.errors).toBeUndefined();
  });

  const whole = '{ types { name fields { name args { name type { name } } type { name ofType { name } } } } }';
  test.each([
    ['20 aliases of the whole schema', `{ ${times(20, (n) => `a${n}: __schema ${whole}`)} }`],
    ['one alias of it', `{ a: __schema { queryType { name } } }`],
    ['aliases below', '{ __schema { a: types { name } b: types { name } } }'],
    ['fields twice', '{ __schema { types { fields { name } fields { name } } } }'],
    ['fields twice by a fragment', '{ __schema { ...f ...f } } fragment f on __Schema { types { name } }'],
    ['all of it, in another form than the standard one', `{ __schema ${whole} }`],
  ])('with %s needs a key', async (_, query) => {
    nextMinute();
    const { body } = await ask(query);
    expect(body.data).toBeUndefined();
    expect(body.errors[0].extensions).toMatchObject({ code: 'UNAUTHENTICATED', errorCode: 'ERR_GATEWAY_90300' });
  });

  test('of the whole schema counts at its real size: a few times it for who has a key, not twenty times', async () => {
    const inKey = (query: string) => account.graphql(query).then(({ body }) => body.errors?.[0].extensions.errorCode);
    expect(await inKey(`{ ${times(2, (n) => `a${n}: __schema ${whole}`)} }`)).toBeUndefined();
    expect(await inKey(`{ ${times(20, (n) => `a${n}: __schema ${whole}`)} }`)).toBe('ERR_GATEWAY_90013');
  });
});

test('whether somebody can sign in is looked up once for a document, however often it asks', async () => {
  nextMinute();
  gateway.statements.length = 0;
  const query = `{ ${times(20, (n) => `a${n}: signInOffer { isSetUp }`)} }`;
  expect((await gateway.graphql(query, {}, { key: null })).body.data.a19).toEqual({ isSetUp: expect.any(Boolean) });
  expect(asked('owner')).toBe(2);
});
