// Hashing takes a while: what changes meanwhile counts. And no text that a stranger sends takes much longer.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Account, Owner, TestGateway } from '../support/gateway/gateway.ts';
import { type Browser, linkFor, newBrowser, PASSWORD, refusal, signedIn, startWithDashboard } from './browser.ts';

const FAILED = 'FORBIDDEN ERR_GATEWAY_90205';
const ANOTHER = 'another good password';

let gateway: TestGateway;
let account: Account;
let user: Owner;
let email: string;
/** What is done while a password is compared, once. */
let meanwhile: (() => Promise<unknown>) | undefined;
beforeAll(async () => {
  gateway = await startWithDashboard({ PUBLIC_API_URL: 'https://gateway.example' });
  account = await gateway.newAccount();
  const { signIn } = gateway.app;
  const { verifyPassword: isRight } = signIn;
  signIn.verifyPassword = async (...given) => {
    const right = await isRight(...given);
    const now = meanwhile;
    meanwhile = undefined;
    await now?.();
    return right;
  };
});
afterAll(() => gateway.close());

let browser: Browser;
beforeEach(async () => {
  user = await account.addOwner();
  email = `${user.ownerId}@example.com`.toLowerCase();
  await gateway.app.prisma.owner.update({ where: { id: user.ownerId }, data: { subject: email } });
  browser = await signedIn(gateway, account.key, user.ownerId);
});

const update = (input: object) =>
  account.graphql(
    'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { user { id } } }',
    {
      ...{ id: user.ownerId, input },
    },
  );
const redeem = async () => newBrowser(gateway.api).redeem(await linkFor(gateway, account.key, user.ownerId), ANOTHER);
const sessions = () => gateway.app.prisma.browserSession.count({ where: { ownerId: user.ownerId } });

test('who is shut out while signing in is not signed in, nor when let in again', async () => {
  meanwhile = () => update({ active: false });
  expect(refusal(await newBrowser(gateway.api).signIn(email))).toBe(FAILED);
  await update({ active: true });
  expect(await sessions()).toBe(0);
});

test('a password that is replaced while it signs in does not', async () => {
  meanwhile = redeem;
  expect(refusal(await newBrowser(gateway.api).signIn(email))).toBe(FAILED);
  expect(await sessions()).toBe(1); // Of the link.
});

test('a password that is replaced while it is changed stays as it was replaced', async () => {
  meanwhile = redeem;
  const input = { current: PASSWORD, password: 'a password of a thief' };
  expect(refusal(await browser.ask('changePassword', { input }))).toBe('BAD_USER_INPUT ERR_GATEWAY_90211');
  expect((await newBrowser(gateway.api).signIn(email, ANOTHER)).body.errors).toBeUndefined();
});

/** The least milliseconds of the processor that something took, of a few times. */
async function work(of: (round: number) => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 1; round <= 3; round++) {
    const before = process.cpuUsage();
    await of(round);
    const { user: own, system } = process.cpuUsage(before);
    least = Math.min(least, (own + system) / 1000);
  }
  return least;
}

test('a long header of a stranger takes no time', async () => {
  const long = 'a'.repeat(15_000);
  const ask = (from: string) =>
    Object.assign(newBrowser(gateway.api), { headers: { 'x-forwarded-for': from } }).redeem('A'.repeat(43));
  await ask('192.0.2.1');
  expect(await work((round) => ask(`${long},192.0.2.${round},`))).toBeLessThan(100);
});

test('a long password takes no longer than a short one', async () => {
  const ask = (name: string, password: string) => (round: number) =>
    Object.assign(newBrowser(gateway.api), { headers: { 'x-forwarded-for': `10.1.1.${round}` } }).signIn(
      `${name}${round}@example.com`,
      password,
    );
  const short = await work(ask('short', 'not the right password'));
  // Marks in the order in which it takes the longest to sort them: half a second, were they sorted.
  expect(await work(ask('long', `a${'\u0301\u0316'.repeat(15_000)}`))).toBeLessThan(short + 100);
});
