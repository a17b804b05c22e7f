// Guessing passwords gets slower and slower, and tells nothing on the way.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway/gateway.ts';
import type { Answer } from '../support/gateway/http.ts';
import { linkFor, newBrowser, PASSWORD, refusal, startWithDashboard } from './browser.ts';

const ADMIN = 'admin@localhost';
const WRONG = 'FORBIDDEN ERR_GATEWAY_90205';
const TOO_EARLY = 'RATE_LIMITED ERR_GATEWAY_90206';
const HOUR = 3_600_000;

let gateway: TestGateway;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard(
    { PUBLIC_API_URL: 'https://gateway.example', TRUSTED_PROXIES: '127.0.0.1' },
    { now: () => time },
  );
  // Its password takes as long to compare as any.
  await newBrowser(gateway.api).redeem(await linkFor(gateway, gateway.key, gateway.ownerId));
});
afterAll(() => gateway.close());
// What failed is forgotten after a day.
beforeEach(() => {
  time += 25 * HOUR;
});

let addresses = 0;
/** A browser at an address of its own. */
function elsewhere(address = `10.${++addresses >> 8}.${addresses & 255}.1`) {
  return Object.assign(newBrowser(gateway.api), { headers: { 'x-forwarded-for': address } });
}

const wrong = (email = ADMIN, by = elsewhere()) => by.signIn(email, 'not the right password');
const waits = ({ headers }: Answer) => Number(headers['retry-after']);

test('after five failures with one e-mail address from one place, each further attempt there waits longer', async () => {
  const browser = elsewhere();
  for (let attempt = 1; attempt <= 5; attempt++) expect(refusal(await wrong(ADMIN, browser))).toBe(WRONG);
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
    const refused = await browser.signIn(ADMIN);
    expect(refusal(refused)).toBe(TOO_EARLY);
    expect(waits(refused)).toBe(seconds);
    time += seconds * 1000 - 1;
    expect(refusal(await browser.signIn(ADMIN))).toBe(TOO_EARLY);
    time += 1;
    expect(refusal(await wrong(ADMIN, browser))).toBe(WRONG);
  }
});

test('strangers who know an e-mail address do not shut its owner out, however many they are', async () => {
  // What a stranger does, without the work of hashing for each.
  const { attempts } = gateway.app.signIn;
  const guess = (place: number) => attempts.run(ADMIN, `198.18.${place >> 8}.${place & 255}`, async () => null);
  for (let place = 0; place < 300; place++) await guess(place);
  expect((await elsewhere().signIn(ADMIN)).body.errors).toBeUndefined();
  expect(refusal(await wrong())).toBe(WRONG);
});

test('after a hundred failures with one e-mail address, from wherever, each place has one more guess', async () => {
  const { attempts } = gateway.app.signIn;
  const guess = (ip: string) => attempts.run(ADMIN, ip, async () => null);
  for (let place = 0; place < 100; place++) await guess(`198.18.0.${place}`);
  const one = elsewhere();
  expect(refusal(await wrong(ADMIN, one))).toBe(WRONG);
  expect(refusal(await wrong(ADMIN, one))).toBe(TOO_EARLY);
  // With other e-mail addresses it is as ever.
  expect(refusal(await wrong('somebody@example.com', one))).toBe(WRONG);
  // All networks that one customer has of IPv6 are one place.
  await guess('2001:db8:1:1::1');
  await expect(guess('2001:db8:1:2::1')).rejects.toThrow('try again in 1 s');
  await guess('2001:db8:2:2::1');
});

test('who signs in now and then can guess the password of another no more often', async () => {
  const browser = elsewhere();
  const victim = 'victim@example.com';
  for (let attempt = 1; attempt <= 5; attempt++) {
    expect(refusal(await wrong(victim, browser))).toBe(WRONG);
    if (attempt < 5) expect((await browser.signIn(ADMIN)).body.errors).toBeUndefined();
  }
  expect(refusal(await wrong(victim, browser))).toBe(TOO_EARLY);
});

test('a success makes the failures with an e-mail address from there forgotten', async () => {
  const browser = elsewhere();
  for (let attempt = 1; attempt <= 3; attempt++) await wrong(ADMIN, browser);
  expect((await browser.signIn(ADMIN)).body.errors).toBeUndefined();
  expect(refusal(await wrong(ADMIN, browser))).toBe(WRONG);
  expect((await browser.signIn(ADMIN)).body.errors).toBeUndefined();
});

test.each([
  ['an address', ['192.0.2.7']],
  [
    'a network of IPv6',
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:3::', '2001:db8:1:2::9:9'],
  ],
])('after five failures from %s, with whatever e-mail addresses, it waits; others do not', async (_, from) => {
  const browser = (attempt: number) => elsewhere(from[attempt % from.length]);
  for (let attempt = 1; attempt <= 5; attempt++)
    expect(refusal(await wrong(`somebody${attempt}@example.com`, browser(attempt)))).toBe(WRONG);
  expect(refusal(await browser(6).signIn(ADMIN))).toBe(TOO_EARLY);
  expect((await elsewhere().signIn(ADMIN)).body.errors).toBeUndefined();
});

test('who has a password cannot make up for failures with others’ by it', async () => {
  const browser = elsewhere('192.0.2.8');
  for (let attempt = 1; attempt <= 4; attempt++) await wrong(`somebody${attempt}@example.com`, browser);
  expect((await browser.signIn(ADMIN)).body.errors).toBeUndefined();
  expect(refusal(await wrong('somebody5@example.com', browser))).toBe(WRONG);
  expect(refusal(await wrong('somebody6@example.com', browser))).toBe(TOO_EARLY);
});

test('wrong links count too', async () => {
  const browser = elsewhere('192.0.2.9');
  for (let attempt = 1; attempt <= 5; attempt++)
    expect(refusal(await browser.redeem('A'.repeat(43)))).toBe('FORBIDDEN ERR_GATEWAY_90207');
  expect(refusal(await browser.redeem('A'.repeat(43)))).toBe(TOO_EARLY);
});

test('wrong passwords count when one is changed, too', async () => {
  const browser = elsewhere();
  await browser.signIn(ADMIN);
  const change = () => browser.ask('changePassword', { input: { current: 'not the right one', password: PASSWORD } });
  for (let attempt = 1; attempt <= 5; attempt++)
    expect(refusal(await change())).toBe('BAD_USER_INPUT ERR_GATEWAY_90211');
  expect(refusal(await change())).toBe(TOO_EARLY);
});

test('many attempts at once are no way round it', async () => {
  const browser = elsewhere();
  const answers = await Promise.all(Array.from({ length: 15 }, () => wrong(ADMIN, browser)));
  expect(answers.filter((answer) => refusal(answer) === WRONG)).toHaveLength(5);
  expect(answers.filter((answer) => refusal(answer) === TOO_EARLY)).toHaveLength(10);
});

test('many aliases in one document are no way round it', async () => {
  const aliases = Array.from(
    { length: 10 },
    (_, index) => `a${index}: signIn(input: $input) { viewer { isAdmin } }`,
  ).join(' ');
  const browser = elsewhere();
  const { body } = await browser.post({
    query: `mutation ($input: SignInInput!) { ${aliases} }`,
    variables: { input: { email: ADMIN, password: 'not the right password' } },
  });
  const numbers = body.errors.map((error: { extensions: { errorCode: string } }) => error.extensions.errorCode);
  expect(numbers).toEqual([...Array(5).fill('ERR_GATEWAY_90205'), ...Array(5).fill('ERR_GATEWAY_90206')]);
});

test('who finds the queue full is sent away, and has not failed by it', async () => {
  let isFull = true;
  // Two under way and twenty waiting, each in whose place another comes at once.
  const others = Array.from({ length: 22 }, async () => {
    while (isFull) await gateway.app.signIn.hashPassword(PASSWORD);
  });
  for (let attempt = 1; attempt <= 6; attempt++) {
    const refused = await elsewhere().signIn(ADMIN);
    expect(refusal(refused)).toBe('UNAVAILABLE ERR_GATEWAY_90213');
    expect(waits(refused)).toBe(2);
  }
  isFull = false;
  await Promise.all(others);
  expect((await elsewhere().signIn(ADMIN)).body.errors).toBeUndefined();
});

test('an e-mail address that nobody has is told by nothing from a wrong password: same words, same work', async () => {
  const work = async (email: string) => {
    time += 25 * HOUR;
    // Of the processor: what other programs take of it makes no difference.
    const before = process.cpuUsage();
    const { body } = await wrong(email);
    const { user, system } = process.cpuUsage(before);
    expect(body.errors[0].message).toBe('The e-mail address or the password is wrong.');
    return user + system;
  };
  let [known, unknown] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 1; round <= 10; round++) {
    known = Math.min(known, await work(ADMIN));
    unknown = Math.min(unknown, await work('nobody@example.com'));
  }
  expect(unknown / known).toBeGreaterThan(0.5);
  expect(unknown / known).toBeLessThan(2);
});
