// The code generator: types from the schema, ids from hashes, and errors for operations that the schema does not allow.

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generate } from '../../src/dashboard/codegen.js';

const SCHEMA = `
  scalar Timestamp
  enum Role { ADMIN MEMBER }
  input NewUser { name: String!, role: Role = MEMBER }
  type User { id: ID!, name: String, role: Role!, since: Timestamp! }
  type Query { user(id: ID!): User, users: [User!] }
  type Mutation { addUser(input: NewUser!): User }
  type Subscription { userAdded: User! }
`;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gateway-codegen-'));
  await write('schema.graphql', SCHEMA);
});
afterEach(() => rm(directory, { recursive: true }));

async function write(name: string, text: string) {
  await mkdir(dirname(join(directory, name)), { recursive: true });
  await writeFile(join(directory, name), text);
}
const run = () =>
  generate({
    schema: join(directory, 'schema.graphql'),
    operations: join(directory, 'screens'),
    generated: join(directory, 'generated'),
  });
const operations = () => readFile(join(directory, 'generated/operations.ts'), 'utf8');

test('an operation is exported under its name with its types, without its text', async () => {
  await write('screens/users/users.graphql', 'query Users { users { id name role since } }');
  await write('screens/new.graphql', 'mutation AddUser($input: NewUser!) { addUser(input: $input) { id } }');
  await write('screens/live.graphql', 'subscription UserAdded { userAdded { id } }');
  const texts = await run();
  const source = await operations();
  const idOf = (start: string) => Object.entries(texts).find(([, text]) => text.startsWith(start))?.[0];
  expect(source).toContain(
    `export const Users: Operation<UsersQuery, UsersQueryVariables> = { id: 'sha256:${idOf('query Users')}', kind: 'query', name: 'Users' };`,
  );
  expect(source).toMatch(/AddUser: Operation<AddUserMutation, AddUserMutationVariables> = .* kind: 'mutation'/);
  expect(source).toMatch(/UserAdded: Operation<UserAddedSubscription, \w+> = .* kind: 'subscription'/);
  expect(source).toMatch(/id: string, name: string \| null, role: Role, since: string/);
  expect(source).toContain("'ADMIN'");
  expect(source).not.toContain('query Users');
});

test('the id of an operation is the SHA-256 of its text with exactly the fragments that it uses', async () => {
  await write(
    'screens/a.graphql',
    'query One($id: ID!) { user(id: $id) { ...Row } }  query Other { users { ...Name } }',
  );
  await write('screens/b.graphql', 'fragment Row on User { id ...Name } fragment Name on User { name }');
  const texts = await run();
  for (const [hash, text] of Object.entries(texts)) expect(createHash('sha256').update(text).digest('hex')).toBe(hash);
  const [one = '', other = ''] = Object.values(texts).sort();
  expect(one).toMatch(/^query One[\s\S]*fragment Name on User[\s\S]*fragment Row on User/);
  expect(other).toMatch(/^query Other/);
  expect(other).not.toContain('fragment Row');
  expect(JSON.parse(await readFile(join(directory, 'generated/operations.json'), 'utf8'))).toEqual(texts);
});

test('layout, comments and other operations do not change the id of an operation', async () => {
  await write('screens/a.graphql', 'query Users { users { id, name } }');
  const before = Object.keys(await run());
  await write('screens/a.graphql', '# all of them\nquery Users {\n  users {\n    id\n    name\n  }\n}\n');
  await write('screens/0.graphql', 'query Other { users { id } }');
  expect(Object.keys(await run())).toEqual(expect.arrayContaining(before));
});

test('an unchanged file is not written again', async () => {
  await write('screens/a.graphql', 'query Users { users { id } }');
  await run();
  const before = await stat(join(directory, 'generated/operations.ts'), { bigint: true });
  await run();
  expect((await stat(join(directory, 'generated/operations.ts'), { bigint: true })).ino).toBe(before.ino);
});

test.each([
  ['a field that the schema no longer has', 'query A {\n  users {\n    email\n  }\n}', 3, /Cannot query field "email"/],
  [
    'an argument of another type',
    'query A($n: String!) {\n  user(id: $n) { id }\n}',
    1,
    /type "String!" .* expecting type "ID!"/,
  ],
  ['a variable that is not declared', 'query A {\n  user(id: $id) { id }\n}', 2, /"\$id" is not defined/],
  ['a syntax error', 'query A {\n  users {\n', 3, /Syntax Error/],
  ['an operation without a name', '\n{ users { id } }', 2, /needs a name/],
  [
    'two operations of one name',
    'query A { users { id } }\nmutation A { addUser(input: { name: "x" }) { id } }',
    1,
    /only one operation named "A"/,
  ],
  [
    'a fragment that nobody takes',
    'query A { users { id } }\nfragment F on User { id }',
    2,
    /Fragment "F" is never used/,
  ],
])('%s is reported with file and line', async (_, text, line, reason) => {
  await write('screens/users/wrong.graphql', text);
  const message = await run().then(
    () => 'nothing was wrong',
    (error: Error) => error.message,
  );
  expect(message).toContain(`users/wrong.graphql:${line}: `);
  expect(message).toMatch(reason);
  await expect(operations()).rejects.toThrow('ENOENT');
});

test('mistakes in several files are reported together', async () => {
  await write('screens/a.graphql', 'query A { users { nope } }');
  await write('screens/b.graphql', 'query B { nothing }');
  await expect(run()).rejects.toThrow(/a\.graphql:1: .*nope[\s\S]*b\.graphql:1: .*nothing/);
});

describe('modules, which are fields with a replace and a delete mutation,', () => {
  const MODULES = `
    type Limit { enabled: Boolean!, max: Int!, of: Ref! }
    type Ref { id: ID! }
    type Edge { id: ID!, limit: Limit, state: Limit }
    type Query { edge(id: ID!): Edge, edges: [Edge!] }
    type Mutation {
      replaceEdgeLimit(id: ID!, region: String!): ReplaceEdgeLimitPayload
      deleteEdgeLimit(id: ID!, region: String!): DeleteEdgeLimitPayload
      deleteEdge(id: ID!): DeleteEdgePayload
    }
    type ReplaceEdgeLimitPayload { limit: Limit!, edge: Edge }
    type DeleteEdgeLimitPayload { edge: Edge }
    type DeleteEdgePayload { deletedEdgeId: ID! }
  `;
  beforeEach(() => write('schema.graphql', MODULES));

  test('are added to fragments with a directive', async () => {
    await write(
      'screens/a.graphql',
      `query One($id: ID!) { edge(id: $id) { ...Whole } } query All { edges { ...States } }
       fragment Whole on Edge @modules { id } fragment States on Edge @moduleStates { id }`,
    );
    const texts = Object.values(await run()).map((text) => text.replace(/\s+/g, ' '));
    expect(texts.find((text) => text.startsWith('query One'))).toContain(
      'fragment Whole on Edge { id limit { enabled max of { id } } }',
    );
    expect(texts.find((text) => text.startsWith('query All'))).toContain(
      'fragment States on Edge { id limit { enabled } }',
    );
  });

  test('get an operation each that unsets them', async () => {
    await write('screens/a.graphql', 'query All { edges { id } }');
    const texts = Object.values(await run()).map((text) => text.replace(/\s+/g, ' '));
    expect(texts).toContain(
      'mutation UnsetEdgeLimit($id: ID!, $region: String!) { deleteEdgeLimit(id: $id, region: $region) { __typename } }',
    );
    expect((await operations()).replace(/\s+/g, ' ')).toContain(
      'export const unsetOperations = { edge: { limit: UnsetEdgeLimit, }, };',
    );
  });
});
