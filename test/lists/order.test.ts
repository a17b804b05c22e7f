// A list in another order than by id: each row is found once, in its place, from both ends and through both doors.

import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

interface Row {
  id: string;
  description: string;
  lastUsedAt: Date | null;
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

const ORDERS = [
  'description asc',
  'description DESC',
  'last_used_at',
  'last_used_at desc',
  'created_at desc',
  'id asc',
];

describe('API keys of which many have the same value, or none', () => {
  let account: Account;
  let rows: Row[];
  beforeAll(async () => {
    account = await gateway.newAccount();
    rows = await makeKeys(account, 60);
  });

  test.each(ORDERS)('are found once each in the order %j by REST', async (order) => {
    expect(await pagesByRest(account, order, 7)).toEqual(sorted(rows, order));
  });

  test.each(ORDERS)('are found once each in the order %j by GraphQL, from either end', async (order) => {
    expect(await pagesByGraphql(account, order, 7)).toEqual(sorted(rows, order));
    expect(await pagesByGraphql(account, order, 11, 'last')).toEqual(sorted(rows, order).toReversed());
  });

  test.each(ORDERS)('stay in the order %j while others are made between two pages', async (order) => {
    const other = await gateway.newAccount();
    const made = await makeKeys(other, 40);
    const found = await pagesByRest(other, order, 9, () => makeKeys(other, 3));
    const before = new Set(made.map(({ id }) => id));
    expect(found.filter((id) => before.has(id))).toEqual(sorted(made, order));
    expect(new Set(found).size).toBe(found.length);
  });
});

test('a page that follows the id of an object which has been deleted says so; in the order by id it goes on', async () => {
  const account = await gateway.newAccount();
  const { body: created } = await account.call('POST', '/credentials', { description: 'a' });
  await account.call('DELETE', `/credentials/${created.id}`);
  const gone = `/credentials?before_id=${created.id}`;
  expect((await account.call('GET', gone)).status).toBe(200);
  const { status, body } = await account.call('GET', `${gone}&order_by=description`);
  expect([status, body.error_code]).toEqual([400, 'ERR_GATEWAY_90481']);
  expect(body.msg).toContain('before_id');
});

test('the address of the next page has the order, the filter and the search', async () => {
  const account = await gateway.newAccount();
  for (const description of ['b yes', 'a yes', 'c yes', 'd no', 'yes e'])
    await account.call('POST', '/credentials', { description });
  const query = new URLSearchParams({
    ...{ limit: '2', order_by: 'description desc', search: 'YES' },
    filter: 'obj.description != "b yes" && !(description == "a+b&c=d")',
  });
  const first = await account.call('GET', `/credentials?${query}`);
  const shown = ({ credentials }: { credentials: { description: string }[] }) =>
    credentials.map(({ description }) => description);
  expect(shown(first.body)).toEqual(['yes e', 'c yes']);
  expect(first.body.uri).toBe(`${gateway.api}/credentials`);
  const next = Object.fromEntries(new URL(first.body.next_page_uri).searchParams);
  const startsWithId = expect.stringMatching(new RegExp(`^${first.body.credentials[1].id}\\.`));
  expect(next).toEqual({ ...Object.fromEntries(query), before_id: startsWithId });
  const second = await account.call('GET', first.body.next_page_uri);
  expect([shown(second.body), second.body.next_page_uri]).toEqual([['a yes'], null]);
});

/** @returns all keys of the account. */
async function makeKeys({ accountId, ownerId }: Account, count: number): Promise<Row[]> {
  const data = Array.from({ length: count }, (_, i) => {
    const id = newId('ak');
    const lastUsedAt = i % 3 === 0 ? null : new Date(1_700_000_000_000 + ((i * 11) % 5) * 60_000);
    return { id, accountId, ownerId, digest: id, description: ['a', 'b', 'c', ''][(i * 7) % 4] ?? '', lastUsedAt };
  });
  const { apiKey } = gateway.app.prisma;
  await apiKey.createMany({ data: data.toReversed() });
  return apiKey.findMany({ where: { accountId } });
}

/** The order that the list is to have: what is null counts as the largest, and among equals the id decides. */
function sorted(rows: readonly Row[], order: string): string[] {
  const [member, direction = 'asc'] = order.toLowerCase().split(' ');
  const keyOf = ({ id, description, lastUsedAt }: Row) => {
    if (member === 'description') return `${description}\0${id}`;
    if (member === 'last_used_at') return `${lastUsedAt?.toISOString() ?? '~'}\0${id}`;
    return id;
  };
  const ascending = [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(({ id }) => id);
  return direction === 'asc' ? ascending : ascending.reverse();
}

/** @param between what happens between two pages. */
async function pagesByRest(
  { call }: Account,
  order: string,
  limit: number,
  between?: () => Promise<unknown>,
): Promise<string[]> {
  const found: string[] = [];
  const query = new URLSearchParams({ limit: String(limit), order_by: order });
  for (let uri: string | null = `/api_keys?${query}`; uri !== null; ) {
    const { body } = await call('GET', uri);
    found.push(...body.keys.map(({ id }: { id: string }) => id));
    uri = body.next_page_uri;
    await between?.();
    if (found.length > 500) throw new Error('the list has no end');
  }
  return found;
}

/** From one end to the other. */
async function pagesByGraphql({ graphql }: Account, order: string, size: number, end = 'first'): Promise<string[]> {
  const found: string[] = [];
  const [field, direction = 'ASC'] = order.toUpperCase().split(' ');
  const [at, more, next] =
    end === 'first' ? ['after', 'hasNextPage', 'endCursor'] : ['before', 'hasPreviousPage', 'startCursor'];
  const query = `query ($orderBy: [ApiKeyOrder!], $size: Int, $at: String) {
    list: apiKeys(orderBy: $orderBy, ${end}: $size, ${at}: $at) { nodes { id } pageInfo { more: ${more} next: ${next} } }
  }`;
  for (let cursor: string | null = null, hasMore = true; hasMore; ) {
    const { body } = await graphql(query, { orderBy: { field, direction }, size, at: cursor });
    const { nodes, pageInfo } = body.data.list;
    const ids = nodes.map(({ id }: { id: string }) => id);
    found.push(...(end === 'first' ? ids : ids.reverse()));
    cursor = pageInfo.next;
    hasMore = pageInfo.more;
  }
  return found;
}
