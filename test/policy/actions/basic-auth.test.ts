// User names and passwords, as the module of a tunnel and the action of a policy ask for them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies are full of them

import { expect, test } from 'vitest';
import { basicAuth } from '../../../src/edge/modules/basic-auth.ts';
import { HeaderList } from '../../../src/http/header-list.ts';
import type { Verdict } from '../../../src/http/module.ts';
import { readBasicCredentials } from '../../../src/policy/auth/basic-credentials.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import { ENDPOINT, environmentOf, exchangeOf } from '../exchange-support.ts';

const header = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
const presented = (...values: string[]) =>
  readBasicCredentials(new HeaderList(values.map((value) => ['authorization', value] as const)));

const challenge = (realm: string) => ({
  kind: 'refuse',
  error: 'badCredentials',
  fields: [['WWW-Authenticate', `Basic realm="${realm}", charset="UTF-8"`]],
});

test('what is presented is read up to the first colon, in UTF-8', () => {
  for (const [pair, username, password] of [
    ['Aladdin:open sesame', 'Aladdin', 'open sesame'],
    ['test:123£', 'test', '123£'],
    ['a:b:c', 'a', 'b:c'],
    [':', '', ''],
    ['\ufeffa:b', '\ufeffa', 'b'],
  ] as const)
    expect([pair, presented(header(pair))]).toEqual([pair, { username, password }]);
  expect(presented('basic  QWxhZGRpbjpvcGVuIHNlc2FtZQ==')).toEqual({ username: 'Aladdin', password: 'open sesame' });
});

test('what is not well formed presents nobody', () => {
  for (const value of [
    '',
    'Basic',
    'Basic ',
    'Bearer YTpi',
    'BasicYTpi',
    'Basic YTpi YTpi',
    'Basic YTpi,',
    'Basic YTp',
    'Basic YTpiYw',
    'Basic YTpiYx==',
    'Basic YTpi====',
    'Basic YT-_',
    'Basic YTpi\n',
    header('no colon'),
    header('a\0:b'),
    header('a:b\r\n'),
    `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString('base64')}`,
  ])
    expect([value, presented(value)]).toEqual([value, undefined]);
  expect(presented()).toBeUndefined();
  expect(presented(header('a:b'), header('a:b'))).toBeUndefined();
});

test('the module lets in who is on its list, and asks the others for a password', () => {
  const credentials = [
    { username: 'ann', password: 'one:two' },
    { username: 'bob', password: 'three' },
  ];
  const { onRequest } = basicAuth({ realm: 'the "lab"', credentials });
  const come = (...values: string[]) =>
    onRequest?.(exchangeOf({ fields: values.map((value) => ['Authorization', value] as const) }));
  expect(come(header('ann:one:two'))).toBeUndefined();
  expect(come(header('bob:three'))).toBeUndefined();
  for (const pair of ['ann:three', 'bob:one:two', 'ann', 'ann:one', 'Bob:three', ':', 'ann:one:two '])
    expect([pair, come(header(pair))]).toMatchObject([pair, challenge('the \\"lab\\"')]);
  expect(come()).toMatchObject({ reason: 'there is no well-formed user name and password in Authorization' });
  expect(come(header('bob:four'))).toMatchObject({ reason: expect.not.stringContaining('four') });
});

test('who came in keeps the Authorization that was sent', () => {
  const exchange = exchangeOf({ fields: { Authorization: header('ann:password') } });
  basicAuth({ realm: '', credentials: [{ username: 'ann', password: 'password' }] }).onRequest?.(exchange);
  expect(exchange.request.fields.isChanged).toBe(false);
});

const policy = (config: object, ...more: object[]) =>
  compilePolicyDocument(
    { on_http_request: [{ actions: [{ type: 'basic-auth', config }, ...more] }] },
    ENDPOINT,
    environmentOf(),
  ).http;

test('the action lets in who is on its list, written out or computed', async () => {
  const credentials = ['ann:password-1', '${"b" + "ob"}:password-2', '${"cid:password-" + string(3)}'];
  const http = policy({ credentials, realm: 'lab' });
  const come = async (pair: string) =>
    (await http?.onRequest?.(exchangeOf({ fields: { Authorization: header(pair) } }))) as Verdict;
  for (const pair of ['ann:password-1', 'bob:password-2', 'cid:password-3'])
    expect([pair, await come(pair)]).toEqual([pair, undefined]);
  for (const pair of ['ann:password-2', 'bob:password-3', 'cid:', '${"b" + "ob"}:password-2'])
    expect([pair, await come(pair)]).toMatchObject([pair, challenge('lab')]);
});

test('a computed pair without a colon, or with a password that nobody may have, lets nobody in', async () => {
  const http = policy({ credentials: ['${"ann"}', 'bob:${""}', '${req.method}:${req.method}'] });
  for (const pair of ['ann:', 'ann', 'bob:', 'GET:GET', ':'])
    expect(await http?.onRequest?.(exchangeOf({ fields: { Authorization: header(pair) } }))).toMatchObject(
      challenge('gateway'),
    );
});

test('what the action found is known to what follows it, also when it lets everybody in', async () => {
  const body = '${actions.basic_auth.credentials}';
  const http = policy(
    { credentials: ['ann:password-1'], enforce: false },
    { type: 'custom-response', config: { body } },
  );
  const come = async (fields: Record<string, string>) => {
    const verdict = (await http?.onRequest?.(exchangeOf({ fields }))) as { body: Buffer };
    return JSON.parse(verdict.body.toString());
  };
  expect(await come({})).toEqual({ presented: false, username: '', authorized: false });
  expect(await come({ Authorization: header('eve:password-1') })).toEqual({
    presented: true,
    username: 'eve',
    authorized: false,
  });
  expect(await come({ Authorization: header('ann:password-1') })).toEqual({
    presented: true,
    username: 'ann',
    authorized: true,
  });
});

test('a list that cannot be kept is refused when it is uploaded', () => {
  const told = (config: object) => {
    try {
      policy(config);
      return [];
    } catch (error) {
      return (error as { problems: { path: string; number: number }[] }).problems.map(
        ({ path, number }) => `${number} ${path.replace('on_http_request[0].actions[0].config.', '')}`,
      );
    }
  };
  const credentials = ['ann:password-1'];
  expect(told({})).toEqual(['2234 credentials']);
  expect(told({ credentials: [] })).toEqual(['2223 credentials']);
  expect(told({ credentials: Array(11).fill('ann:password-1') })).toEqual(['2218 credentials']);
  expect(told({ credentials: ['ann', 'ann${"x"}password', 'a:1234567', `a:${'x'.repeat(129)}`] })).toEqual([
    '2257 credentials[0]',
    '2257 credentials[1]',
    '2258 credentials[2]',
    '2258 credentials[3]',
  ]);
  expect(told({ credentials, realm: 'ü' })).toEqual(['2204 realm']);
  expect(told({ credentials, realm: 'x'.repeat(129) })).toEqual(['2221 realm']);
  expect(told({ credentials, enforce: 'no' })).toEqual(['2204 enforce']);
  expect(told({ credential: credentials })).toContain('2204 credential');
});
