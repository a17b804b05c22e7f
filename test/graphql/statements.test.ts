// No list asks the database once per row.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway.ts';

const STATEMENTS_MAX = 4;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startTestGateway({ NODE_LEASE_MS: '600000' }, { counting: true });
  account = await gateway.newAccount();
  const { accountId } = account;
  const owners = [account, ...(await Promise.all(Array.from({ length: 9 }, () => account.addOwner({ kind: 'BOT' }))))];
  await gateway.app.prisma.credential.createMany({
    data: Array.from({ length: 100 }, (_, index) => {
      const id = newId('cr');
      return { id, accountId, ownerId: owners[index % owners.length]?.ownerId ?? '', digest: id };
    }),
  });
});
afterAll(() => gateway.close());

/** How many statements a request takes of a caller who is known already. */
async function statementsOf(ask: () => Promise<{ status: number; text: string }>): Promise<number> {
  await account.call('GET', '/credentials?limit=1');
  gateway.statements.length = 0;
  const { status, text } = await ask();
  expect(status).toBe(200);
  expect(text).not.toContain('"errors"');
  return gateway.statements.length;
}

test.each([
  ['a list by REST', (size: number) => account.call('GET', `/credentials?limit=${size}`)],
  [
    'a list with owners',
    (size: number) =>
      account.graphql(
        'query ($size: Int) { credentials(first: $size) { nodes { id owner { id ... on User { email } ... on BotUser { name } } } } }',
        { size },
      ),
  ],
  [
    'edges with owners',
    (size: number) =>
      account.graphql(
        'query ($size: Int) { credentials(first: $size) { edges { cursor node { description owner { active createdAt } } } } }',
        { size },
      ),
  ],
  [
    'nodes and edges with owners, and the count',
    (size: number) =>
      account.graphql(
        'query ($size: Int) { credentials(first: $size) { totalCount nodes { owner { id } } edges { node { owner { id } } } } }',
        { size },
      ),
  ],
  [
    'a page backwards',
    (size: number) =>
      account.graphql('query ($size: Int) { credentials(last: $size) { nodes { id owner { id } } } }', { size }),
  ],
])('%s of 100 takes no more statements than of 1', async (_, ask) => {
  const one = await statementsOf(() => ask(1));
  const hundred = await statementsOf(() => ask(100));
  expect(hundred).toBe(one);
  expect(one).toBeGreaterThan(0);
  expect(one).toBeLessThanOrEqual(STATEMENTS_MAX);
});

test('a list without its count does not count', async () => {
  await statementsOf(() => account.graphql('{ credentials { nodes { id } } }'));
  expect(gateway.statements.filter((statement) => /count\(/i.test(statement))).toEqual([]);
});
