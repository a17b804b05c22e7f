// Which spellings of a path are the same.

import { beforeAll, expect, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const get = (path: string) =>
  gateway
    .raw(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.key}\r\nService-Version: 2\r\nConnection: close\r\n\r\n`,
    )
    .then((answer) => ({
      status: Number(answer.split(' ', 2)[1]),
      body: JSON.parse(answer.split('\r\n\r\n')[1] ?? ''),
    }));

test.each(['/%63redentials', '/%63%72%65%64entials', '/%63redentials?limit=5'])('%s is /credentials', async (path) => {
  expect(await get(path)).toMatchObject({ status: 200, body: { credentials: [] } });
});

test.each([
  ['encoded twice', '/%2563redentials'],
  ['with an encoded slash', '/%2Fcredentials'],
  ['with an encoding that is none', '/%6credentials'],
  ['with bytes that are no UTF-8', '/credentials/%ff'],
  ['in capital letters', '/Credentials'],
  ['with a slash at its end', '/credentials/'],
  ['with dots', '/x/../credentials'],
  ['with two slashes', '//credentials'],
])('a path %s is another: %s', async (_, path) => {
  expect(await get(path)).toMatchObject({ status: 404, body: { error_code: expect.stringMatching(/^ERR_GATEWAY_/) } });
});

test('an id may be spelled with encoded letters, too', async () => {
  const { body } = await account.call('POST', '/credentials', {});
  expect((await get(`/credentials/%63${body.id.slice(1)}`)).body.id).toBe(body.id);
});
