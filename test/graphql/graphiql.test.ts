// The operations that GraphiQL shows first, and what its page keeps in the browser.

import { Kind, parse, print } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { EXAMPLES, VARIABLES } from '../../src/api/graphql/graphiql-examples.js';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { subscribe } from '../support/gateway/sse.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const operations = parse(EXAMPLES).definitions.flatMap((definition) =>
  definition.kind === Kind.OPERATION_DEFINITION ? [definition] : [],
);

test('its examples are a query, a mutation with variables and a subscription, which run as they stand on a new account', async () => {
  expect(operations.map(({ operation }) => operation)).toEqual(['query', 'mutation', 'subscription']);
  const [, , watching] = operations;
  const stream = await subscribe(gateway.api, account.key, print(watching ?? expect.unreachable()));
  for (const { name } of operations.slice(0, 2)) {
    const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query: EXAMPLES, operationName: name?.value, variables: VARIABLES });
    const answer = await (await fetch(`${gateway.api}/graphql`, { method: 'POST', headers, body })).json();
    expect(answer, name?.value).toEqual({ data: expect.any(Object) });
  }
  const { description } = VARIABLES.input;
  expect(await stream.next()).toMatchObject({ data: { credentialChanged: { credential: { description } } } });
  stream.close();
});

test('the page has them, and stores the key for the session of its tab only', async () => {
  const response = await fetch(`${gateway.api}/graphql`, { headers: { accept: 'text/html' } });
  const page = await response.text();
  const call = page.slice(page.lastIndexOf('for (const name of Object.keys(localStorage))'));
  expect(call).toContain('localStorage.removeItem(name)');
  expect(call).toContain(JSON.stringify(EXAMPLES));
  expect(call).toContain('storage: sessionStorage }');
});

test('the description of the schema says where to begin', async () => {
  const { body } = await gateway.graphql('{ __schema { description } }', {}, { key: null } as never);
  for (const name of ['viewer', 'credentials', 'endpoints', 'reservedDomains', 'node', 'changes'])
    expect(body.data.__schema.description).toContain(`\`${name}\``);
});
