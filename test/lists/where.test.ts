// Filters and orders of GraphQL as input objects: they give what the same in words gives.

import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
const early = '2026-01-31T12:00:00Z';
const inBetween = '2026-01-31T12:00:00.900Z';
const late = '2026-02-01T00:00:00Z';
const rows = [
  { description: 'a shop', acl: ['bind:*'], labels: { site: 'north' }, createdAt: new Date(early) },
  {
    description: 'A shop',
    acl: [],
    labels: { site: 'south', app: 'x' },
    createdAt: new Date(inBetween),
  },
  { description: '', acl: ['bind:a', 'bind:*'], labels: {}, createdAt: new Date(late) },
  { description: '100%', acl: ['bind:b'], labels: { app: 'x' }, createdAt: new Date(late) },
];
const idOf = new Map<string, string>();
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  const { accountId, ownerId } = account;
  for (const row of rows) {
    const id = newId('cr');
    idOf.set(row.description, id);
    await gateway.app.prisma.credential.create({ data: { ...row, id, accountId, ownerId, digest: id } });
    // The rows of others are never among them.
    const other = await gateway.newAccount();
    const theirs = { ...row, id: newId('cr'), accountId: other.accountId, ownerId: other.ownerId };
    await gateway.app.prisma.credential.create({ data: { ...theirs, digest: theirs.id } });
  }
});

const LIST = `query ($where: CredentialWhere, $filter: String, $orderBy: [CredentialOrder!], $order: String, $first: Int) {
  credentials(where: $where, filter: $filter, orderBy: $orderBy, order: $order, first: $first) {
    nodes { description } totalCount nextPageUri } }`;

async function described(variables: object): Promise<string[]> {
  const { body, text } = await account.graphql(LIST, variables);
  expect(body.errors, text).toBeUndefined();
  const { nodes, totalCount } = body.data.credentials;
  expect(totalCount).toBe(nodes.length);
  return nodes.map(({ description }: { description: string }) => description).sort();
}

test.each<[object, string, string[]]>([
  [{ description: { eq: 'a shop' } }, 'obj.description == "a shop"', ['a shop']],
  [{ description: { in: ['a shop', '', 'x'] } }, 'obj.description in ["a shop", "", "x"]', ['', 'a shop']],
  [{ description: { in: [] } }, 'false', []],
  [
    { description: { contains: 'shop', startsWith: 'A' } },
    'obj.description.contains("shop") && obj.description.startsWith("A")',
    ['A shop'],
  ],
  [{ description: { endsWith: '%' } }, 'obj.description.endsWith("%")', ['100%']],
  [{ description: { isEmpty: true } }, 'size(obj.description) == 0', ['']],
  [{ description: { isEmpty: false, isNull: false } }, 'obj.description != ""', ['100%', 'A shop', 'a shop']],
  [{ createdAt: { eq: late } }, `obj.created_at == timestamp("${late}")`, ['', '100%']],
  [{ createdAt: { gt: late } }, `obj.created_at > timestamp("${late}")`, []],
  [
    { createdAt: { gte: early, lt: late } },
    `obj.created_at >= timestamp("${early}") && obj.created_at < timestamp("${late}")`,
    ['A shop', 'a shop'],
  ],
  [{ not: { createdAt: { lte: inBetween } } }, `!(obj.created_at <= timestamp("${early}"))`, ['', '100%']],
  [{ acl: { contains: 'bind:*' } }, '"bind:*" in obj.acl', ['', 'a shop']],
  [{ acl: { isEmpty: true } }, 'size(obj.acl) == 0', ['A shop']],
  [{ labels: [{ key: 'app', eq: 'x' }] }, 'obj.labels.app == "x"', ['100%', 'A shop']],
  [
    {
      labels: [
        { key: 'app', isNull: false },
        { key: 'site', isNull: true },
      ],
    },
    '"app" in obj.labels && !("site" in obj.labels)',
    ['100%'],
  ],
  [{ not: { acl: { contains: 'bind:*' } } }, '!("bind:*" in obj.acl)', ['100%', 'A shop']],
  [
    { or: [{ description: { eq: '' } }, { acl: { contains: 'bind:b' } }] },
    'obj.description == "" || "bind:b" in obj.acl',
    ['', '100%'],
  ],
  [
    { and: [{ acl: { contains: 'bind:*' } }, { not: { description: { isEmpty: true } } }] },
    '"bind:*" in obj.acl && obj.description != ""',
    ['a shop'],
  ],
  [{ or: [] }, 'false', []],
  [
    { and: [], not: null, description: null, acl: { contains: null }, labels: null },
    'true',
    ['', '100%', 'A shop', 'a shop'],
  ],
  [{ not: { or: [{}] } }, 'false', []],
])('where: %j gives what the filter %j gives', async (where, filter, expected) => {
  expect(await described({ where })).toEqual(expected);
  expect(await described({ filter })).toEqual(expected);
});

test('times have milliseconds in GraphQL, and are compared by them; in REST and in downloads they have none', async () => {
  for (const comparison of ['eq', 'gte', 'lte', 'gt', 'lt'])
    expect([comparison, await described({ where: { createdAt: { [comparison]: inBetween } } })]).toEqual([
      comparison,
      { eq: ['A shop'], gte: ['', '100%', 'A shop'], lte: ['A shop', 'a shop'], gt: ['', '100%'], lt: ['a shop'] }[
        comparison
      ],
    ]);
  expect(await described({ where: { createdAt: { eq: early } } })).toEqual(['a shop']);
  expect(await described({ filter: `obj.created_at == timestamp("${early}")` })).toEqual(['A shop', 'a shop']);
  const id = idOf.get('A shop') ?? '';
  const { body } = await account.graphql('query ($id: ID!) { credential(id: $id) { createdAt } }', { id });
  expect(body.data.credential.createdAt).toBe(inBetween);
  // Operations of REST are compiled when they come again.
  for (let round = 0; round < 4; round++)
    expect((await account.call('GET', `/credentials/${id}`)).body.created_at).toBe(early);
  const list = await account.call('GET', '/credentials');
  expect(new Set(list.body.credentials.map((row: { created_at: string }) => row.created_at))).toEqual(
    new Set([early, late]),
  );
  const headers = { authorization: `Bearer ${account.key}`, 'service-version': '2' };
  const download = await fetch(`${gateway.api}/export/credentials?format=csv`, { headers });
  const text = await download.text();
  expect(text).toContain(`,${early},`);
  expect(text).not.toContain('.900Z');
});

test('ids, choices and filters of several kinds hold together', async () => {
  const id = { in: [...idOf.values()].slice(1) };
  expect(await described({ where: { id, ownerId: { eq: account.ownerId } }, filter: '"bind:*" in obj.acl' })).toEqual([
    '',
  ]);
  expect(await described({ where: { ownerId: { eq: 'usr_0' } } })).toEqual([]);
  const { body } = await account.graphql(
    '{ users(where: { role: { eq: ADMIN }, active: { eq: true } }) { nodes { id } } }',
  );
  expect(body.data.users.nodes).toEqual([{ id: account.ownerId }]);
});

test('an order and a filter hold for all pages; the address of the next page by REST is given where REST has words for them', async () => {
  const orderBy = [{ field: 'DESCRIPTION', direction: 'DESC' }];
  const page = async (variables: object) =>
    (await account.graphql(LIST, { first: 2, ...variables })).body.data.credentials;
  const typed = await page({ orderBy });
  expect(typed).toEqual(await page({ order: 'description desc' }));
  expect(new URL(typed.nextPageUri).searchParams.get('order_by')).toBe('description desc');
  expect(await page({ orderBy, where: { description: { isEmpty: false } } })).toMatchObject({
    totalCount: 3,
    nextPageUri: null,
  });
});

describe('is refused:', () => {
  const deep = (levels: number): object => (levels === 0 ? {} : { not: deep(levels - 1) });
  const many = (count: number) => ({ or: Array.from({ length: count }, () => ({ id: { eq: 'x' } })) });

  test.each<[string, object, string]>([
    ['a filter of more than 32 levels', { where: deep(33) }, 'at most 32 levels'],
    ['a filter of thousands of levels', { where: deep(1000) }, 'at most 100 levels'],
    ['a filter of more than 100 comparisons', { where: many(101) }, 'at most 100 comparisons'],
    ['two orders', { orderBy: [{ field: 'ID' }, { field: 'DESCRIPTION' }] }, 'one order at a time'],
    ['an order in both forms', { orderBy: [{ field: 'ID' }], order: 'id' }, 'not both'],
  ])('%s', async (_, variables, reason) => {
    const { body } = await account.graphql(LIST, variables);
    expect(body.errors).toMatchObject([{ message: expect.stringContaining(reason), extensions: { status: 400 } }]);
  });

  test('what is no choice, with the choices', async () => {
    const { body } = await account.graphql('query ($where: UserWhere) { users(where: $where) { nodes { id } } }', {
      where: { or: [{ role: { in: ['ADMIN', 'admin', 'BOSS'] } }] },
    });
    expect(body.errors[0].extensions.problems.map(({ message }: { message: string }) => message)).toEqual(
      [1, 2].map((index) => `The member where.or[0].role.in[${index}] is not valid: it must be one of ADMIN, MEMBER.`),
    );
  });

  test('nothing of 32 levels and 100 comparisons', async () => {
    expect(await described({ where: { and: [deep(31), many(100)] } })).toEqual([]);
  });
});

describe('a filter in CEL', () => {
  const FILTERED = `query ($filter: String!, $values: Json) {
    credentials(filter: $filter, filterVariables: $values, first: 2) { nodes { description } nextPageUri } }`;
  const ask = async (filter: string, values: unknown) => (await account.graphql(FILTERED, { filter, values })).body;

  test.each<[string, object, string[]]>([
    ['obj.description == vars.text', { text: 'a shop' }, ['a shop']],
    ['obj.description == vars.text', { text: 'a" || true || "' }, []],
    ['obj.description in vars.texts', { texts: ['a shop', '', 'x'] }, ['', 'a shop']],
    ['vars.rule in obj.acl && obj.description.startsWith(vars.start)', { rule: 'bind:*', start: 'a' }, ['a shop']],
    ['obj.created_at < timestamp(vars.before)', { before: late }, ['A shop', 'a shop']],
    [
      'obj.createdAt < timestamp(vars.before) - duration(vars.span)',
      { before: late, span: '1s' },
      ['A shop', 'a shop'],
    ],
    ['vars.isWanted && createdAt == timestamp(vars.at)', { isWanted: true, at: late }, ['', '100%']],
  ])('%s with %j', async (filter, values, expected) => {
    const { data, errors } = await ask(filter, values);
    expect(errors).toBeUndefined();
    const { nodes, nextPageUri } = data.credentials;
    expect(nodes.map(({ description }: { description: string }) => description).sort()).toEqual(expected);
    expect(nextPageUri).toBeNull(); // REST has no words for it.
  });

  test.each<[string, unknown, string, string]>([
    ['obj.id == vars.other', { text: 'x' }, 'filter', 'vars.other, which is not among the values of filterVariables'],
    ['obj.id == vars.text', ['x'], 'filterVariables', 'it must be an object, as in { "name": "app03" }'],
    [
      'obj.id == vars.text',
      { text: { a: 1 } },
      'filterVariables',
      'text must be a text, a number, a boolean, null, or',
    ],
    ['obj.id == vars.text', { text: 'x'.repeat(9000) }, 'filterVariables', 'at most 8192 bytes'],
    ['obj.id == vars.text', { text: '\0' }, 'filterVariables', 'its texts must be Unicode without U+0000'],
    ['obj.description == vars.count', { count: 3 }, 'filter', 'description'],
  ])('%s with %j is refused', async (filter, values, member, reason) => {
    const { errors } = await ask(filter, values);
    expect(errors[0].message).toContain(reason);
    expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', problems: [{ path: [member] }] });
  });
});
