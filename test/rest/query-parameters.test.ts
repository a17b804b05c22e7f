import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  await account.call('POST', '/credentials');
});

test.each([
  ['an unknown parameter', 'color=red', 231, 'color'],
  ['the GraphQL name of a parameter', 'first=1', 231, 'first'],
  ['a parameter of paging backwards, which REST has not', 'last=1', 231, 'last'],
  ['a parameter in another case', 'Limit=1', 231, 'Limit'],
  ['a parameter without a name', '=1', 231, ''],
  ['a parameter twice', 'limit=1&limit=1', 232, 'limit'],
  ['a parameter twice, once encoded', 'limit=1&%6cimit=2', 232, 'limit'],
  ['a limit of 0', 'limit=0', 233, 'limit'],
  ['a limit of 101', 'limit=101', 233, 'limit'],
  ['a negative limit', 'limit=-1', 233, 'limit'],
  ['a limit in words', 'limit=ten', 244, 'limit'],
  ['an empty limit', 'limit=', 244, 'limit'],
  ['half a limit', 'limit=1.5', 244, 'limit'],
  ['a limit in hexadecimal', 'limit=0x10', 244, 'limit'],
  ['a limit with an exponent', 'limit=1e1', 244, 'limit'],
  ['a limit beyond 32 bits', 'limit=4294967297', 244, 'limit'],
  ['a cursor of another list', `before_id=${newId('ak')}`, 227, 'before_id'],
  ['a cursor that is no id', 'before_id=5', 227, 'before_id'],
  ['an empty cursor', 'before_id=', 227, 'before_id'],
])('%s is refused, and named', async (_, query, number, name) => {
  const answer = await account.call('GET', `/credentials?${query}`);
  expect(answer).toMatchObject({ status: 400, body: { error_code: `ERR_GATEWAY_${number}` } });
  expect(answer.body.msg).toContain(name);
});

test('an unknown parameter is answered with those that are known', async () => {
  const { body } = await account.call('GET', '/credentials?color=red');
  expect(body.msg).toContain('limit');
  expect(body.msg).toContain('before_id');
});

test.each([
  ['GET', 'one object'],
  ['PATCH', 'a change'],
  ['DELETE', 'a deletion'],
])('%s of %s takes no parameter', async (method) => {
  const { body } = await account.call('POST', '/credentials');
  const answer = await account.call(method, `/credentials/${body.id}?limit=1`);
  expect(answer).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_231' } });
});

test.each(['limit=1', 'limit=100', 'limit=%31', `before_id=${newId('cr')}`, ''])('%j is taken', async (query) => {
  expect((await account.call('GET', `/credentials?${query}`)).status).toBe(200);
});
