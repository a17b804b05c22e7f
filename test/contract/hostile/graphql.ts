// GraphQL requests that must be refused.

import type { World } from '../world.ts';

export interface HostileQuery {
  title: string;
  query: string;
  variables?: object | ((world: World) => object);
  number: number;
  /** `extensions.code`. */
  code: string;
}

const BAD = 'BAD_USER_INPUT';
const DOCUMENT = 90012;
const TOO_COMPLEX = 90013;

const refused = (
  title: string,
  number: number,
  query: string,
  variables?: HostileQuery['variables'],
  code = BAD,
): HostileQuery => ({ title, number, query, variables, code });

const nested = (depth: number) => `{ __schema { types { ${'ofType { '.repeat(depth)} name ${'}'.repeat(depth)} } } }`;
const many = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ');
const write = 'mutation ($input: CreateCredentialInput!) { createCredential(input: $input) { credential { id } } }';
const writeWith = (members: string) => `mutation { createCredential(input: { ${members} }) { credential { id } } }`;

const documents = [
  refused('an empty document', DOCUMENT, ''),
  refused('half a document', DOCUMENT, '{ credentials {'),
  refused('no GraphQL', DOCUMENT, 'SELECT * FROM credential'),
  refused('a NUL', DOCUMENT, '{ credentials { \0 } }'),
  refused('an unknown root field', DOCUMENT, '{ secrets { id } }'),
  refused('an unknown field', DOCUMENT, '{ credentials { nodes { digest } } }'),
  refused('a field of the database', DOCUMENT, '{ credentials { nodes { accountId } } }'),
  refused('snake_case', DOCUMENT, '{ credentials { nodes { created_at } } }'),
  refused('an unknown argument', DOCUMENT, '{ credentials(limit: 1) { uri } }'),
  refused('a required argument left out', DOCUMENT, '{ credential { id } }'),
  refused('no selection on an object', DOCUMENT, '{ credentials }'),
  refused('a selection on a leaf', DOCUMENT, '{ credentials { uri { x } } }'),
  refused('an unknown directive', DOCUMENT, '{ credentials @skipAll { uri } }'),
  refused('a directive without its argument', DOCUMENT, '{ credentials @include { uri } }'),
  refused('an unknown fragment', DOCUMENT, '{ credentials { ...Nothing } }'),
  refused('an unused fragment', DOCUMENT, '{ credentials { uri } } fragment F on Query { __typename }'),
  refused('a fragment of itself', DOCUMENT, '{ ...F } fragment F on Query { credentials { uri } ...F }'),
  refused('a circle of fragments', DOCUMENT, '{ ...F } fragment F on Query { ...G } fragment G on Query { ...F }'),
  refused('a fragment on another type', DOCUMENT, '{ credentials { ... on Credential { id } } }'),
  refused(
    'a subscription with two fields',
    DOCUMENT,
    'subscription { a: credentialChanged { objectId } b: credentialChanged { objectId } }',
  ),
  refused('two operations, none named', DOCUMENT, 'query A { credentials { uri } } query B { credentials { uri } }'),
  refused('two operations without names', DOCUMENT, '{ credentials { uri } } { apiKeys { uri } }'),
  refused('only a fragment', DOCUMENT, 'fragment F on Query { credentials { uri } }'),
  refused('a type definition', DOCUMENT, 'type Credential { id: ID }'),
  refused('fields that cannot be merged', DOCUMENT, '{ a: credentials { uri } a: apiKeys { uri } }'),
  refused('2,001 tokens', DOCUMENT, `{ ${'__typename '.repeat(2000)} }`),
  refused('literals of a wrong type', DOCUMENT, writeWith('description: 5')),
  refused('an unknown member as a literal', DOCUMENT, writeWith('nonsense: "x"')),
  refused('a literal beyond 32 bits', DOCUMENT, '{ credentials(first: 99999999999) { uri } }'),
  refused('an unknown type of variable', DOCUMENT, 'query ($x: Nothing) { credentials { uri } }'),
  refused('an unused variable', DOCUMENT, 'query ($x: ID) { credentials { uri } }'),
  refused('a variable that is not declared', DOCUMENT, '{ credential(id: $id) { id } }'),
  refused('a nullable variable for a required argument', DOCUMENT, 'query ($id: ID) { credential(id: $id) { id } }', {
    id: 'x',
  }),
];

const limits = [
  refused('17 levels', TOO_COMPLEX, nested(15)),
  refused('a hundred levels', TOO_COMPLEX, nested(100)),
  refused(
    '51 aliases in an introspection',
    TOO_COMPLEX,
    `{ __schema { types { ${many(51, (i) => `a${i}: name`)} } } }`,
  ),
  refused('51 aliases', TOO_COMPLEX, `{ credentials { ${many(51, (i) => `a${i}: uri`)} } }`),
  refused('21 root fields', TOO_COMPLEX, `{ ${many(21, (i) => `a${i}: credentials { uri }`)} }`),
  refused(
    '21 mutations',
    TOO_COMPLEX,
    `mutation { ${many(21, (i) => `a${i}: createCredential(input: {}) { credential { id } }`)} }`,
  ),
  refused(
    'an answer of millions',
    TOO_COMPLEX,
    '{ httpsEdges { nodes { routes { backend { backend { id uri } } } } edges { node { routes { id uri match ' +
      'backend { backend { id uri } } circuitBreaker { enabled } } hostports routes2: routes { id uri match metadata } } } } ' +
      many(19, (i) => `a${i}: httpsEdges { nodes { routes { id uri match metadata description createdAt } } }`) +
      ' }',
  ),
  refused(
    'fragments that double',
    TOO_COMPLEX,
    `{ ...F0 } ${many(20, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F20 on Query { __typename }`,
  ),
  refused(
    'many aliases through a fragment',
    TOO_COMPLEX,
    `{ ${many(6, () => '...F')} } fragment F on Query { ${many(10, (i) => `a${i}: __typename`)} }`,
  ),
];

const variables = [
  refused('a variable left out', 90007, write),
  refused('null for a required variable', 90007, write, { input: null }),
  refused('a list for an object', 215, write, { input: [{}] }),
  refused('a text for an object', 215, write, { input: '{}' }),
  refused('an unknown member', 214, write, { input: { nonsense: 1 } }),
  refused('a member in snake_case', 214, write, { input: { owner_id: 'x' } }),
  refused('a NUL in a text', 215, write, { input: { description: '\0' } }),
  refused('half a surrogate pair', 215, write, { input: { acl: ['bind:\ud800'] } }),
  refused('a fraction for a page', 215, 'query ($n: Int) { credentials(first: $n) { uri } }', { n: 1.5 }),
  refused('a text for a page', 215, 'query ($n: Int) { credentials(first: $n) { uri } }', { n: '1' }),
  refused('an object for an id', 215, 'query ($id: ID!) { credential(id: $id) { id } }', { id: {} }),
  refused('a page of less than nothing', 233, '{ credentials(first: -1) { uri } }'),
  refused('a page of 101', 233, '{ credentials(first: 101) { uri } }'),
  refused('a page of -1 backwards', 233, '{ credentials(last: -1) { uri } }'),
  refused('both directions', 90008, '{ credentials(first: 1, last: 1) { uri } }'),
  refused(
    'after and before',
    90008,
    'query ($a: String) { credentials(after: $a, before: $a) { uri } }',
    ({ ids }: World) => ({
      a: ids.credential,
    }),
  ),
  refused(
    'a cursor of another list',
    227,
    'query ($a: String) { credentials(after: $a) { uri } }',
    ({ ids }: World) => ({
      a: ids.apiKey,
    }),
  ),
  refused(
    'a cursor of another list, backwards',
    227,
    'query ($a: String) { apiKeys(before: $a) { uri } }',
    ({ ids }: World) => ({
      a: ids.credential,
    }),
  ),
  refused('a cursor in base64', 227, '{ credentials(after: "Y3I6MQ==") { uri } }'),
  refused(
    'an empty idempotency key',
    90009,
    'mutation { createCredential(input: {}, idempotencyKey: "") { credential { id } } }',
  ),
  refused(
    'an idempotency key of 256',
    90009,
    'mutation ($k: String) { createCredential(input: {}, idempotencyKey: $k) { credential { id } } }',
    {
      k: 'k'.repeat(256),
    },
  ),
  refused(
    'an idempotency key beyond ASCII',
    90009,
    'mutation { createCredential(input: {}, idempotencyKey: "clé") { credential { id } } }',
  ),
  refused(
    'an idempotency key beside another mutation',
    90011,
    'mutation { a: createCredential(input: {}, idempotencyKey: "k") { credential { id } } b: createCredential(input: {}) { credential { id } } }',
  ),
  refused('a REST cursor that is an id of nothing', 90020, '{ credential(id: "x") { id } }', undefined, 'NOT_FOUND'),
  refused('an id that is a number', 90020, '{ credential(id: 5) { id } }', undefined, 'NOT_FOUND'),
];

export const hostileQueries = [...documents, ...limits, ...variables];
