// What costs much is asked for once in a document, and of each account a few at a time.

import { beforeAll, expect, test } from 'vitest';
import { HeavyOperations } from '../../../src/api/graphql/heavy-operations.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const run = (n: number) =>
  `a${n}: evaluatePolicy(policy: "{}", request: { method: "GET", url: "https://a.example/" }) { __typename }`;

test.each([
  ['evaluatePolicy', `{ ${run(1)} ${run(2)} }`],
  ['search', '{ a: search(text: "a") { objectId } b: search(text: "b") { objectId } }'],
  ['one of each', `{ ${run(1)} search(text: "b") { objectId } }`],
  [
    'them in a fragment',
    '{ ...f } fragment f on Query { a: search(text: "a") { objectId } b: search(text: "b") { objectId } }',
  ],
])('a document with two of %s is refused', async (_, query) => {
  const { body } = await account.graphql(query);
  expect(body.data).toBeUndefined();
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining('counts as'),
    extensions: { code: 'BAD_USER_INPUT', errorCode: 'ERR_GATEWAY_90013' },
  });
});

test('one alone is answered', async () => {
  for (const query of [`{ ${run(1)} }`, '{ search(text: "a") { objectId } }'])
    expect((await account.graphql(query)).body.errors).toBeUndefined();
});

test('whoever searches all the time is told to wait, and nobody else', async () => {
  const other = await gateway.newAccount();
  const many = Array.from({ length: 40 }, () => account.graphql('{ search(text: "nothing-like-it") { objectId } }'));
  expect((await other.graphql('{ search(text: "a") { objectId } }')).body.errors).toBeUndefined();
  expect((await account.graphql('{ credentials { totalCount } }')).body.errors).toBeUndefined();
  const answers = await Promise.all(many);
  const refused = answers.filter(({ body }) => body.errors);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(40);
  for (const { body, headers } of refused) {
    expect(body.errors[0].extensions).toMatchObject({ code: 'RATE_LIMITED', errorCode: 'ERR_GATEWAY_90302' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
});

test('of an account two run at once, and the next begins when a place has rested', async () => {
  const rests: (() => void)[] = [];
  const heavyOperations = new HeavyOperations(() => new Promise<void>((resolve) => rests.push(resolve)));
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (accountId: string, name: string) =>
    heavyOperations.run(accountId, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  const running = ['a1', 'a2', 'a3'].map((name) => work('a', name));
  running.push(work('b', 'b1'));
  await settled();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  ends.get('a1')?.();
  await running[0];
  await settled();
  expect(begun).not.toContain('a3');
  rests[0]?.();
  await settled();
  expect(begun).toContain('a3');
  for (const end of ends.values()) end();
  await Promise.all(running);
});

test('what fails gives its place back', async () => {
  const heavyOperations = new HeavyOperations(async () => undefined);
  for (let round = 0; round < 20; round++)
    await expect(heavyOperations.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await heavyOperations.run('a', async () => 'done')).toBe('done');
});
