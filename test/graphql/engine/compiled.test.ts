// A document that comes again is compiled (graphql-jit); its answers must be those of graphql-js.

import type { GraphQLInputObjectType } from 'graphql';
import { beforeAll, expect, test, vi } from 'vitest';
import { schema } from '../../../src/api/schema.ts';
import { newId } from '../../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

const ROUNDS = 5;

let gateway: TestGateway;
let account: Account;
let id: string;
const absent = newId('cr');
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  ({ id } = (await account.call('POST', '/credentials', { description: 'first', acl: ['bind:a=b', '*'] })).body);
  await account.call('POST', '/credentials', { owner_id: (await account.addOwner({ kind: 'BOT' })).ownerId });
});

test.each<[string, string, (() => object)?]>([
  [
    'fields of every type',
    '{ credential(id: $id) { id uri createdAt description metadata acl ownerId } }',
    () => ({ id }),
  ],
  [
    'aliases',
    '{ a: credential(id: $id) { x: id y: id acl } b: credential(id: $id) { id: description } }',
    () => ({ id }),
  ],
  [
    '__typename everywhere',
    '{ __typename credentials { __typename nodes { __typename owner { __typename } } pageInfo { __typename } } }',
  ],
  [
    'a page',
    '{ credentials(first: 1) { totalCount uri nextPageUri nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }',
  ],
  [
    'an interface',
    '{ node(id: $id) { __typename id ... on Credential { description owner { id ... on User { email role } ... on BotUser { name } } } } }',
    () => ({ id }),
  ],
  ['an interface that is null', '{ node(id: $id) { id ... on Credential { description } } }', () => ({ id: absent })],
  [
    'fragments',
    '{ credentials { ...page } } fragment page on CredentialConnection { nodes { ...row } edges { node { ...row } } } fragment row on Credential { id owner { ...who } } fragment who on Owner { id active }',
  ],
  [
    'fields that meet again',
    '{ credentials { nodes { id } nodes { description } } ...more } fragment more on Query { credentials { nodes { acl } totalCount } }',
  ],
  [
    'introspection',
    '{ __schema { queryType { name } types { name kind } } __type(name: "Credential") { fields { name type { kind name ofType { name } } } } }',
  ],
  ['an error with its path', '{ good: credential(id: $id) { id } bad: credential(id: "cr_1") { id } }', () => ({ id })],
  ['an error in each of two fields', '{ a: credential(id: "cr_1") { id } b: credentials(first: -1) { totalCount } }'],
  ['an error about an argument', '{ credentials(first: 101) { totalCount } }'],
  ['an error of a mutation', 'mutation { createCredential(input: { acl: ["x"] }) { credential { id } } }'],
  [
    'mutations one after the other',
    'mutation { a: updateCredential(id: $id, input: { description: "a" }) { credential { description } } b: updateCredential(id: $id, input: { description: "b" }) { credential { description } } c: deleteCredential(id: "cr_1") { deletedCredentialId } }',
    () => ({ id }),
  ],
  [
    'a list in a variable',
    'mutation ($acl: [String!]) { updateCredential(id: $id, input: { acl: $acl }) { credential { acl } } }',
    () => ({ id, acl: ['*'] }),
  ],
  [
    'one value for a list',
    'mutation ($acl: [String!]) { updateCredential(id: $id, input: { acl: $acl }) { credential { acl } } }',
    () => ({ id, acl: '*' }),
  ],
  [
    'one value for a list, in the document',
    'mutation { updateCredential(id: $id, input: { acl: "*" }) { credential { acl } } }',
    () => ({ id }),
  ],
  ['a default', 'query ($first: Int = 1) { credentials(first: $first) { nodes { id } } }', () => ({})],
  [
    'a default that is not needed',
    'query ($first: Int = 1) { credentials(first: $first) { nodes { id } } }',
    () => ({ first: 2 }),
  ],
  [
    'null in place of a default',
    'query ($first: Int = 1) { credentials(first: $first) { nodes { id } } }',
    () => ({ first: null }),
  ],
  ['a variable that is left out', 'query ($first: Int) { credentials(first: $first) { nodes { id } } }', () => ({})],
  [
    '@include and @skip, on',
    'query ($on: Boolean!) { credentials { totalCount @include(if: $on) uri @skip(if: $on) ... @include(if: $on) { nodes { id } } ...more @skip(if: $on) } } fragment more on CredentialConnection { nextPageUri }',
    () => ({ on: true }),
  ],
  [
    '@include and @skip, off',
    'query ($on: Boolean!) { credentials { totalCount @include(if: $on) uri @skip(if: $on) ... @include(if: $on) { nodes { id } } ...more @skip(if: $on) } } fragment more on CredentialConnection { nextPageUri }',
    () => ({ on: false }),
  ],
  ['@skip on a root field', 'query ($on: Boolean = true) { __typename credentials @skip(if: $on) { totalCount } }'],
  ['a name', 'query Named { credentials { totalCount } }'],
])('%s: the same answer every time', async (_, source, variables = () => ({})) => {
  const given = variables();
  // Where the document does not declare its own, `$id` is a variable.
  const usesId = source.includes('$id');
  const query = !usesId
    ? source
    : source.replace(
        /^(query|mutation)?\s*(?:\(([^)]*)\))?\s*\{/,
        (_, kind = 'query', own = '') => `${kind} ($id: ID!, ${own}) {`,
      );
  const answers: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { status, text, headers } = await account.graphql(query, given);
    answers.push(`${status} ${text.replaceAll(String(headers['service-operation-id']), 'op')}`);
  }
  const [first = '', ...later] = answers;
  expect(first).toMatch(/^200 \{.*"data":\{/s);
  expect(later.map((text) => parsed(text))).toEqual(later.map(() => parsed(first)));
});

// The compiler writes code for each level that an input may have: where it may contain itself, until the stack is full.
test('a document with a filter in a variable is looked at a few times, however often it comes', async () => {
  const looks = vi.spyOn(schema.getType('CredentialWhere') as GraphQLInputObjectType, 'getFields');
  const query = 'query ($where: CredentialWhere) { credentials(where: $where) { nodes { description } } }';
  const where = { or: [{ not: { description: { isEmpty: false } } }, { description: { startsWith: 'no' } }] };
  for (let round = 0; round < ROUNDS; round++)
    expect((await account.graphql(query, { where })).body.data.credentials.nodes).toEqual([{ description: '' }]);
  expect(looks.mock.calls.length).toBeGreaterThan(0);
  expect(looks.mock.calls.length).toBeLessThan(ROUNDS * 50);
  looks.mockRestore();
});

test('a compiled document gives each caller what is theirs', async () => {
  const query = '{ credentials { totalCount nodes { id ownerId } } }';
  const other = await gateway.newAccount();
  for (let round = 0; round < ROUNDS; round++) {
    expect((await account.graphql(query)).body.data.credentials.totalCount).toBe(2);
    expect((await other.graphql(query)).body.data.credentials.totalCount).toBe(0);
    expect((await gateway.graphql(query, {}, { key: null })).body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  }
});

/** Errors may come in any order. */
function parsed(text: string) {
  const { data, errors = [] } = JSON.parse(text.slice(4));
  return { data, errors: errors.map((error: object) => JSON.stringify(error)).sort() };
}
