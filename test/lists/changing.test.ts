// A list that is paged while its rows are deleted, made and changed: what stood there all the time is found once, in its place,
// from both ends and through both doors.

import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { isLong } from '../support/shortened.ts';

const ORDERS = [
  undefined,
  'id asc',
  'description',
  'description desc',
  'last_used_at asc',
  'last_used_at desc',
  'created_at asc',
];
const SEEDS = [1];
/** Each order once in `npm test`, in one of three ways to read it. */
const ordersOf = (way: number) => ORDERS.filter((_, index) => isLong || index % 3 === way);
const ROWS = 40;
const PAGE = 5;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

describe.each(SEEDS)('API keys that come, go and change (seed %i)', (seed) => {
  test.each(ordersOf(0))('are found once each by REST in the order %s, while they stand', async (order) => {
    const list = await ChangingList.of(ROWS, seed);
    const query = new URLSearchParams({ limit: String(PAGE), ...(order && { order_by: order }) });
    const found: string[] = [];
    for (let uri: string | null = `/api_keys?${query}`; uri !== null; await list.change(found.at(-1))) {
      const { status, body } = await list.account.call('GET', uri);
      expect(status, body.msg).toBe(200);
      found.push(...body.keys.map(({ id }: { id: string }) => id));
      uri = body.next_page_uri;
    }
    await list.expectStanding(found, order);
  });

  test.each(ordersOf(1))('are found once each by GraphQL in the order %s, while they stand', async (order) => {
    const list = await ChangingList.of(ROWS, seed);
    const found = await pages(list, order, ['first', 'after', 'hasNextPage', 'endCursor']);
    await list.expectStanding(found.flat(), order);
  });

  test.each(ordersOf(2))('are found once each from the end of the order %s, while they stand', async (order) => {
    const list = await ChangingList.of(ROWS, seed);
    const found = await pages(list, order, ['last', 'before', 'hasPreviousPage', 'startCursor']);
    await list.expectStanding(found.toReversed().flat(), order);
  });
});

test('each edge has the cursor of its object, which is its id in the order by id alone', async () => {
  const { account } = await ChangingList.of(9, 3);
  const query = `query ($orderBy: String, $after: String) {
    apiKeys(first: 20, order: $orderBy, after: $after) { edges { cursor node { id } } }
  }`;
  const edges = async (orderBy: string | null, after: string | null = null) =>
    (await account.graphql(query, { orderBy, after })).body.data.apiKeys.edges;
  for (const { cursor, node } of await edges(null)) expect(cursor).toBe(node.id);
  const all = await edges('description desc');
  for (const [index, { cursor, node }] of all.entries()) {
    expect(cursor).not.toBe(node.id);
    expect(await edges('description desc', cursor)).toEqual(all.slice(index + 1));
    expect(await edges('description desc', node.id)).toEqual(all.slice(index + 1));
  }
});

describe('a cursor', () => {
  let account: Account;
  let cursor: string;
  beforeAll(async () => {
    account = await gateway.newAccount();
    for (const description of ['a', 'b', 'c']) await account.call('POST', '/credentials', { description });
    const { body } = await account.call('GET', '/credentials?limit=1&order_by=description');
    cursor = new URL(body.next_page_uri).searchParams.get('before_id') ?? '';
  });

  const refused = async (beforeId: string, orderBy: string, errorCode: string) => {
    const rest = await account.call(
      'GET',
      `/credentials?${new URLSearchParams({ before_id: beforeId, order_by: orderBy })}`,
    );
    expect([rest.status, rest.body.error_code], rest.body.msg).toEqual([400, errorCode]);
    expect(rest.body.msg).toContain('before_id');
    for (const [size, member] of [
      ['first', 'after'],
      ['last', 'before'],
    ]) {
      const { body } = await account.graphql(
        `query ($at: String, $orderBy: String) { credentials(${size}: 1, ${member}: $at, order: $orderBy) { nodes { id } } }`,
        { at: beforeId, orderBy },
      );
      expect(body.errors[0].extensions).toMatchObject({ status: 400, errorCode, field: member });
    }
  };

  test('that was cut off, mistyped or made up is refused, and its parameter is named', async () => {
    const [id = '', encoded = ''] = cursor.split('.');
    const place = Buffer.from(encoded, 'base64url');
    const damaged = Buffer.from(place).fill(place.readUInt8(place.length - 1) ^ 1, place.length - 1);
    const other = newId('cr');
    for (const wrong of [
      ...[cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, `${cursor}.`, `${cursor}.x`, `${id}.`, `.${encoded}`, '.'],
      ...[`${id}.${damaged.toString('base64url')}`, `${id}.${Buffer.from('description\0x').toString('base64url')}`],
      ...[`${other}.${encoded}`, encoded, `${newId('ak')}.${encoded}`, `${id}.${'A'.repeat(8000)}`],
      ...[Buffer.from('{"id":1}').toString('base64'), `${id}.\u00e9`, '\0', ''],
    ])
      await refused(wrong, 'description', 'ERR_GATEWAY_227');
  });

  test.each(['created_at', 'id', 'id desc'])('is refused in the order %s, as it is of another one', async (order) => {
    await refused(cursor, order, 'ERR_GATEWAY_90483');
  });

  test('is good for the opposite order, too', async () => {
    const { body } = await account.call(
      'GET',
      `/credentials?${new URLSearchParams({ before_id: cursor, order_by: 'description desc' })}`,
    );
    expect(body.credentials).toEqual([]);
  });

  test.each([
    ['of any characters', '\u0001"\\\n\u{1f600}\ue000\uffff%&=+#.\u0301'],
    ['of 4096 bytes', '\u6f22'.repeat(1365)],
  ])('holds a text %s, in an address that servers take', async (_, text) => {
    const other = await gateway.newAccount();
    const ids = Array.from({ length: 3 }, () => newId('ak')).toSorted();
    const { accountId, ownerId } = other;
    const data = ids.map((id) => ({ id, accountId, ownerId, digest: id, description: text }));
    await gateway.app.prisma.apiKey.createMany({ data });
    const filter = `id in ${JSON.stringify(ids)}`;
    const query = new URLSearchParams({ limit: '1', order_by: 'description', filter });
    const { body } = await other.call('GET', `/api_keys?${query}`);
    expect(body.keys[0].id).toBe(ids[0]);
    expect(body.next_page_uri.length).toBeLessThan(8000);
    await gateway.app.prisma.apiKey.delete({ where: { id: ids[0] ?? '' } });
    const next = await other.call('GET', body.next_page_uri);
    expect(next.body.keys.map(({ id }: { id: string }) => id)).toEqual([ids[1]]);
  });
});

type End = readonly [size: string, at: string, more: string, next: string];

/** Each page as it came, from the end that is asked for. */
async function pages(list: ChangingList, orderBy: string | undefined, [size, at, more, next]: End) {
  const query = `query ($orderBy: String, $at: String) {
    list: apiKeys(order: $orderBy, ${size}: ${PAGE}, ${at}: $at) { nodes { id } pageInfo { more: ${more} next: ${next} } }
  }`;
  const found: string[][] = [];
  for (let cursor: string | null = null, hasMore = true; hasMore; ) {
    const { body } = await list.account.graphql(query, { orderBy, at: cursor });
    expect(body.errors).toBeUndefined();
    const ids = body.data.list.nodes.map(({ id }: { id: string }) => id);
    found.push(ids);
    cursor = body.data.list.pageInfo.next;
    hasMore = body.data.list.pageInfo.more;
    await list.change(size === 'first' ? ids.at(-1) : ids[0]);
  }
  return found;
}

/** The API keys of an account, and which of them nobody has touched. */
class ChangingList {
  readonly account: Account;
  readonly #random: () => number;
  /** Those that are there, and those that were there from the beginning as they are. */
  readonly #ids = new Set<string>();
  readonly #standing = new Set<string>();

  constructor(account: Account, seed: number) {
    this.account = account;
    this.#random = randomNumbers(seed);
  }

  static async of(count: number, seed: number): Promise<ChangingList> {
    const list = new ChangingList(await gateway.newAccount(), seed);
    await list.#make(count);
    const keys = await gateway.app.prisma.apiKey.findMany({ where: { accountId: list.account.accountId } });
    for (const { id } of keys) list.#ids.add(id);
    for (const id of list.#ids) list.#standing.add(id);
    // The key with which the list is read.
    const own = keys.find(({ digest, id }) => digest !== id);
    list.#ids.delete(own?.id ?? '');
    return list;
  }

  /** Deletes, changes and makes some, often the one that the page ended with. */
  async change(last: string | undefined): Promise<void> {
    const { apiKey } = gateway.app.prisma;
    const atRandom = () => [...this.#ids][this.#below(this.#ids.size)];
    const gone = [this.#below(2) === 0 ? last : undefined, atRandom()].filter((id) => id && this.#ids.has(id));
    for (const id of gone as string[]) {
      this.#ids.delete(id);
      this.#standing.delete(id);
    }
    await apiKey.deleteMany({ where: { id: { in: gone as string[] } } });
    for (const id of [this.#below(2) === 0 ? last : undefined, atRandom()]) {
      if (!id || !this.#ids.has(id)) continue;
      this.#standing.delete(id);
      await apiKey.update({ where: { id }, data: this.#values() });
    }
    await this.#make(2);
  }

  /** @param found the list in its order, as its pages had it. */
  async expectStanding(found: readonly string[], order: string | undefined): Promise<void> {
    const query = new URLSearchParams({ limit: '100', ...(order && { order_by: order }) });
    const { body } = await this.account.call('GET', `/api_keys?${query}`);
    expect(body.next_page_uri).toBeNull();
    const all: string[] = body.keys.map(({ id }: { id: string }) => id);
    expect(this.#standing.size).toBeGreaterThan(5);
    expect(found.filter((id) => this.#standing.has(id))).toEqual(all.filter((id) => this.#standing.has(id)));
  }

  async #make(count: number): Promise<void> {
    const { accountId, ownerId } = this.account;
    const ids = Array.from({ length: count }, () => newId('ak'));
    const data = ids.map((id) => ({ id, accountId, ownerId, digest: id, ...this.#values() }));
    await gateway.app.prisma.apiKey.createMany({ data });
    for (const id of ids) this.#ids.add(id);
  }

  /** Of each few, so that many are equal, and times that differ in a thousandth of a second. */
  #values() {
    const texts = ['', 'a', 'a ', 'B', '\u00e9', 'e\u0301', '\u{1f600}', '\ue000', 'x'.repeat(255), `"'\\%._`];
    const time = () => new Date(1_700_000_000_000 + this.#below(4));
    return {
      description: texts[this.#below(texts.length)] ?? '',
      lastUsedAt: this.#below(3) === 0 ? null : time(),
      createdAt: time(),
    };
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
