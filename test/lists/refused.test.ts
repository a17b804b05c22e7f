// Filters, orders and searches that cannot be used are refused with the place of the mistake and what would be right.

import { beforeAll, expect, test } from 'vitest';
import { type Account, sharedGateway } from '../support/gateway/gateway.ts';

let account: Account;
beforeAll(async () => {
  account = await (await sharedGateway()).newAccount();
  await account.call('POST', '/credentials', {
    description: 'Field Unit 7',
    metadata: 'north',
    acl: ['bind:a.example.com'],
  });
  await account.call('POST', '/credentials', { description: 'a%b' });
});

/** `((id == "a" && id == "b") || id == "b") && …` */
function nested(levels: number): string {
  let filter = 'id == "a"';
  for (let level = 0; level < levels; level++) filter = `(${filter} ${level % 2 ? '&&' : '||'} id == "b")`;
  return filter;
}

test.each([
  ['nothing that can be read', 'obj.id ==', 'character 8', 'a value on both sides'],
  ['an unknown member', 'obj.idk == "a"', 'character 1', 'there are id, created_at'],
  ['obj alone', 'obj == "a"', 'character', 'no member'],
  ['a text where a time is', 'obj.created_at > "2026-01-31"', 'character 1', 'timestamp("'],
  ['a time that is none', 'obj.created_at > timestamp("yesterday")', 'character', '2026-01-31T12:00:00Z'],
  ['a time span that is none', 'obj.created_at > now().subtract("1 week")', 'character', '7d'],
  ['an order of texts', 'obj.description < "b"', 'character', 'no order'],
  ['a number where a text is', 'obj.description == 5', 'character', 'quotes'],
  ['a piece of an id', 'obj.id.startsWith("cr_")', 'character', '== and in'],
  ['a regular expression', 'obj.description.matches("a.*")', 'character', 'startsWith(), endsWith(), contains()'],
  ['two members', 'obj.description == obj.metadata', 'character', 'constant'],
  ['arithmetic', 'obj.description + "a" == "ba"', 'character', 'no'],
  ['a loop', 'obj.acl.exists(r, r == "a")', 'character', ''],
  ['the length of a text', 'size(obj.description) > 7', 'character', 'size(member) > 0'],
  ['a list where a text is', 'obj.acl == "a"', 'character', '"text" in acl'],
  ['a text alone', 'obj.description', 'character', 'quotes'],
  ['a constant that is neither true nor false', '"a"', 'character 1', 'true nor false'],
  ['too many comparisons', Array.from({ length: 101 }, () => 'id == "a"').join(' || '), 'character', '100'],
  ['too deep a nesting', nested(40), 'character', '32'],
  ['too much text', `id == "${'a'.repeat(4100)}"`, 'character 1', '4096'],
])('a filter with %s', async (_, filter, place, hint) => {
  const { status, body } = await account.call('GET', `/credentials?${new URLSearchParams({ filter })}`);
  expect({ status, code: body.error_code }).toEqual({ status: 400, code: 'ERR_GATEWAY_250' });
  expect(body.msg).toContain(place);
  expect(body.msg).toContain(hint);
  const { body: same } = await account.graphql('query ($filter: String) { credentials(filter: $filter) { uri } }', {
    filter,
  });
  expect(same.errors[0].extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    errorCode: 'ERR_GATEWAY_250',
    field: 'filter',
  });
});

test.each([
  ['order_by=color', 90480, 'created_at'],
  ['order_by=metadata', 90480, 'created_at'],
  ['order_by=id%20up', 90480, 'id desc'],
  ['order_by=constructor', 90480, 'created_at'],
  [`search=${'a'.repeat(201)}`, 90251, '200'],
  ['search=1+2+3+4+5+6+7+8+9+10+11', 90482, '10'],
  ['search=a%00', 90251, 'search'],
  ['filter=a%00', 215, 'U+0000'],
])('%s is refused', async (query, number, hint) => {
  const { status, body } = await account.call('GET', `/credentials?${query}`);
  expect({ status, code: body.error_code }).toEqual({ status: 400, code: `ERR_GATEWAY_${number}` });
  expect(body.msg).toContain(hint);
});

test.each([
  ['filter=', 2],
  ['order_by=', 2],
  ['search=+', 2],
  ['filter=obj.acl == null || obj.acl == ""', 1],
  ['filter=obj.created_at >= daysAgo(7) && obj.created_at <= now()', 2],
  ['filter=obj.created_at < timestamp(time.now).subtract("1h30m")', 0],
  ['filter=created_at > timestamp("2020-01-01T00:00:00-07:00") + duration("24h")', 2],
  ['filter=obj.description.contains("%25")', 1],
  ['filter=obj.description.contains("\\u0000")', 0],
  ['filter="bind:a.example.com" in obj.acl', 1],
  ['filter=has(obj.description)', 2],
  ['search=7 unit FIELD', 1],
  ['search=north unit', 1],
  ['search=north south', 0],
  ['search=bind:a.example.com', 1],
  ['search=%25', 1],
])('%s finds %i', async (query, count) => {
  const { body } = await account.call(
    'GET',
    `/credentials?${query.replaceAll('+ ', '%2B ').replace('&& ', '%26%26 ')}`,
  );
  expect(body.credentials ?? body).toHaveLength(count);
});
