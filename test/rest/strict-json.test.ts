import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));

describe.each([
  ['a member twice', '{"metadata":"a","metadata":"b"}', 90005],
  ['a member twice with the same value', '{"metadata":"a","metadata":"a"}', 90005],
  ['a member twice, once with an escape', '{"metadata":"a","met\\u0061data":"b"}', 90005],
  ['a member twice in a nested object', '{"metadata":{"x":1,"x":2}}', 90005],
  ['a member twice in an object of a list', '{"acl":[{"x":1,"y":[{}],"x":2}]}', 90005],
  ['a member twice with blanks before the colon', '{"metadata" :"a","metadata"\n\t:"b"}', 90005],
  ['an empty name twice', '{"":1,"":2}', 90005],
  ['__proto__', '{"__proto__":{"ownerId":"x"}}', 90006],
  ['__proto__ with an escape', '{"\\u005f_proto__":{}}', 90006],
  ['__proto__ deep inside', '{"acl":[[{"__proto__":1}]]}', 90006],
  ['constructor', '{"constructor":{"prototype":{}}}', 214],
  ['toString', '{"toString":"x"}', 214],
  ['a list', '[]', 213],
  ['a list of one object', '[{}]', 213],
  ['a text', '"description"', 213],
  ['a number', '7', 213],
  ['null', 'null', 213],
  ['true', 'true', 213],
  ['blanks alone', '  ', 213],
  ['something after the object', '{} x', 213],
  ['two objects', '{}{}', 213],
  ['a comma at the end', '{"description":"a",}', 213],
  ['a comment', '{/* why */}', 213],
  ['single quotes', "{'description':'a'}", 213],
  ['a name without quotes', '{description:"a"}', 213],
  ['NaN', '{"description":NaN}', 213],
  ['a number in hexadecimal', '{"description":0x10}', 213],
  ['a line break in a text', '{"description":"a\nb"}', 213],
  ['half an object', '{"description":"a', 213],
  ['a byte order mark', bytes(0xef, 0xbb, 0xbf, '{}'), 213],
  ['a byte that is not UTF-8', bytes('{"description":"', 0xff, '"}'), 213],
  ['an overlong sequence', bytes('{"description":"', 0xc0, 0xaf, '"}'), 213],
  ['a surrogate in UTF-8', bytes('{"description":"', 0xed, 0xa0, 0x80, '"}'), 213],
  ['UTF-16', Buffer.from('{"description":"a"}', 'utf16le'), 213],
  ['half a surrogate pair', '{"description":"\\ud800"}', 215],
  ['half a surrogate pair in a list', '{"acl":["bind:x=\\udc00"]}', 215],
  ['the character U+0000', '{"description":"a\\u0000b"}', 215],
])('a body with %s', (_, body, number) => {
  test(`is refused with ${number}`, async () => {
    const { call } = account;
    const before = await call('GET', '/credentials');
    const answer = await call('POST', '/credentials', body);
    expect(answer).toMatchObject({ status: 400, body: { error_code: `ERR_GATEWAY_${number}` } });
    expect((await call('GET', '/credentials')).body).toEqual(before.body);
  });
});

test.each([
  ['a text that looks like members', '{"description":"a\\":1,\\"description\\":2,{[\\\\"}'],
  ['the name of another member as a value', '{"description":"metadata","metadata":"description"}'],
  ['every escape', '{"description":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"}'],
  ['blanks everywhere', ' \r\n\t{ "description" : "a" , "acl" : [ ] } '],
  ['nulls', '{"description":null,"metadata":null,"acl":null,"owner_id":null}'],
])('a body with %s is taken', async (_, body) => {
  const created = await account.call('POST', '/credentials', body);
  expect(created).toMatchObject({ status: 201, body: { description: JSON.parse(body).description ?? '' } });
});

test.each([
  ['objects', `{"acl":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
  ['lists', `{"acl":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
  ['escapes', `{"nothing":"${'\\"'.repeat(32_000)}"}`],
])('a body of nothing but nested %s is refused like any other', async (_, body) => {
  expect((await account.call('POST', '/credentials', body)).status).toBe(400);
});

test.each([
  ['{"color":"red"}', 'color'],
  ['{"created_at":"2026-11-21T09:00:00Z"}', 'created_at'],
  ['{"ownerId":"usr_1"}', 'ownerId'],
  ['{"Description":"a"}', 'Description'],
])('the unknown member of %s is named, and what is known', async (body, name) => {
  const { status, body: error } = await account.call('POST', '/credentials', body);
  expect(status).toBe(400);
  expect(error).toMatchObject({ error_code: 'ERR_GATEWAY_214', msg: expect.stringContaining(name) });
  for (const known of ['description', 'metadata', 'acl', 'owner_id']) expect(error.msg).toContain(known);
});

test.each([
  ['{"description":7}', 'description'],
  ['{"description":["a"]}', 'description'],
  ['{"description":{}}', 'description'],
  ['{"description":true}', 'description'],
  ['{"acl":"bind:example.com"}', 'acl'],
  ['{"acl":{"0":"*"}}', 'acl'],
  ['{"acl":[1]}', 'acl[0]'],
  ['{"acl":["*",null]}', 'acl[1]'],
  ['{"owner_id":1}', 'owner_id'],
])('the wrong type in %s is blamed on its member', async (body, name) => {
  const answer = await account.call('POST', '/credentials', body);
  expect(answer.status).toBe(400);
  expect(answer.body.msg).toContain(`${name} `);
});
