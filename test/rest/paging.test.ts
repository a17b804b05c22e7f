import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { makeThousand, pagesByGraphql, pagesByRest } from '../support/gateway/paging.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

describe('a thousand credentials made within one second', () => {
  let account: Account;
  let ids: string[];
  beforeAll(async () => {
    account = await gateway.newAccount();
    ids = await makeThousand(gateway, account);
    await (await gateway.newAccount()).call('POST', '/credentials');
  });

  test.each([100, 33])('are found once each, the newest first, in pages of %i by REST', async (limit) => {
    const pages = await pagesByRest(account, limit);
    expect(pages.flat()).toEqual(ids);
    expect(pages).toHaveLength(Math.ceil(1000 / limit));
  });

  test.each([100, 33])('are found once each, the newest first, in pages of %i by GraphQL', async (size) => {
    expect((await pagesByGraphql(account, size, false)).flat()).toEqual(ids);
  });

  test.each([100, 33])('are found once each from the oldest on, in pages of %i backwards', async (size) => {
    const pages = await pagesByGraphql(account, size, true);
    expect(pages.toReversed().flat()).toEqual(ids);
  });

  test('stay in their order while newer ones are made between two pages', async () => {
    const other = await gateway.newAccount();
    const made = await makeThousand(gateway, other);
    const first = await other.call('GET', '/credentials');
    await other.call('POST', '/credentials');
    const second = await other.call('GET', first.body.next_page_uri);
    expect(second.body.credentials.map(({ id }: { id: string }) => id)).toEqual(made.slice(100, 200));
  });

  test('are a hundred a page unless told otherwise, with the address of the next page', async () => {
    const { body } = await account.call('GET', '/credentials');
    expect(body.credentials).toHaveLength(100);
    expect(Object.keys(body).sort()).toEqual(['credentials', 'next_page_uri', 'uri']);
    expect(body.uri).toBe(`${gateway.api}/credentials`);
    const next = new URL(body.next_page_uri);
    expect(Object.fromEntries(next.searchParams)).toEqual({ before_id: ids[99], limit: '100' });
    expect(next.origin + next.pathname).toBe(body.uri);
  });

  test('are counted in GraphQL, and each is its own cursor', async () => {
    const { body } = await account.graphql(
      '{ credentials(first: 2) { totalCount uri nextPageUri nodes { id } edges { cursor node { id } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }',
    );
    const [a, b] = ids;
    expect(body.data.credentials).toEqual({
      totalCount: 1000,
      uri: `${gateway.api}/credentials`,
      nextPageUri: `${gateway.api}/credentials?before_id=${b}&limit=2`,
      nodes: [{ id: a }, { id: b }],
      edges: [
        { cursor: a, node: { id: a } },
        { cursor: b, node: { id: b } },
      ],
      pageInfo: { startCursor: a, endCursor: b, hasNextPage: true, hasPreviousPage: false },
    });
  });

  test.each(['first', 'last'])('%s: 0 gives none of a list, its count and whether there are any', async (argument) => {
    const members =
      'totalCount nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
    const { body } = await account.graphql(`{ credentials(${argument}: 0) { ${members} } }`);
    const more = { hasNextPage: argument === 'first', hasPreviousPage: argument === 'last' };
    const pageInfo = { ...more, startCursor: null, endCursor: null };
    expect(body.data.credentials).toEqual({ totalCount: 1000, nodes: [], edges: [], pageInfo });
  });

  test.each([
    ['first: -1', 'ERR_GATEWAY_233', 'first'],
    ['first: 101', 'ERR_GATEWAY_233', 'first'],
    ['last: -1', 'ERR_GATEWAY_233', 'last'],
    ['after: "ak_2GUMwzzIDBoBHiFkQbcKPEmlmBA"', 'ERR_GATEWAY_227', 'after'],
    ['before: "x"', 'ERR_GATEWAY_227', 'before'],
    ['first: 1, last: 1', 'ERR_GATEWAY_90008', undefined],
    ['first: 1, before: "cr_2GUMwzzIDBoBHiFkQbcKPEmlmBA"', 'ERR_GATEWAY_90008', undefined],
  ])('refuse %s', async (args, errorCode, field) => {
    const { body } = await account.graphql(`{ credentials(${args}) { nodes { id } } }`);
    const [{ extensions }] = body.errors;
    expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT', errorCode, status: 400 });
    expect(extensions.field).toBe(field);
  });
});

describe('a list', () => {
  test('of exactly one page has no next, one more row has', async () => {
    const { call } = await gateway.newAccount();
    for (let made = 0; made < 2; made++) await call('POST', '/credentials');
    expect((await call('GET', '/credentials?limit=2')).body.next_page_uri).toBeNull();
    await call('POST', '/credentials');
    const first = await call('GET', '/credentials?limit=2');
    const second = await call('GET', first.body.next_page_uri);
    expect(second.body).toMatchObject({ credentials: [{}], next_page_uri: null });
  });

  test('of nothing is an empty page', async () => {
    const { call, graphql } = await gateway.newAccount();
    const uri = `${gateway.api}/credentials`;
    expect((await call('GET', '/credentials')).body).toEqual({ credentials: [], uri, next_page_uri: null });
    const { body } = await graphql(
      '{ credentials { totalCount nodes { id } edges { cursor } nextPageUri pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }',
    );
    const pageInfo = { startCursor: null, endCursor: null, hasNextPage: false, hasPreviousPage: false };
    expect(body.data.credentials).toEqual({ totalCount: 0, nodes: [], edges: [], nextPageUri: null, pageInfo });
  });

  test('takes a cursor that names no row, as a place among the ids', async () => {
    const { call } = await gateway.newAccount();
    const { body: older } = await call('POST', '/credentials');
    const between = newId('cr');
    await call('POST', '/credentials');
    const { body } = await call('GET', `/credentials?before_id=${between}`);
    expect(body.credentials.map(({ id }: { id: string }) => id)).toEqual([older.id]);
  });
});
