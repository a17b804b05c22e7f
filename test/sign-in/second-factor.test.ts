// Users with a second factor give a code beside the password: each code once, and not many wrong ones.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';
import { newApp, turnOnSecondFactor } from './authenticator.ts';
import { type Browser, linkFor, newBrowser, PASSWORD, refusal, signedIn, startWithDashboard } from './browser.ts';

const NEEDED = 'FORBIDDEN ERR_GATEWAY_90226';
const WRONG = 'BAD_USER_INPUT ERR_GATEWAY_90227';
const ON = 'CONFLICT ERR_GATEWAY_90228';
const NONE = 'CONFLICT ERR_GATEWAY_90229';
const TOO_EARLY = 'RATE_LIMITED ERR_GATEWAY_90206';
const STEP = 30_000;

let gateway: TestGateway;
let account: Account;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard(
    { PUBLIC_API_URL: 'https://gateway.example', TRUSTED_PROXIES: '127.0.0.1' },
    { now: () => time },
  );
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

let userId: string;
let email: string;
/** Where the user is signed in. */
let browser: Browser;
beforeEach(async () => {
  userId = (await account.addOwner()).ownerId;
  email = `${userId}@example.com`.toLowerCase();
  await gateway.app.prisma.owner.update({ where: { id: userId }, data: { subject: email } });
  browser = await signedIn(gateway, account.key, userId);
});

let addresses = 0;
/** A browser at an address of its own. */
function elsewhere() {
  const address = `10.${++addresses >> 8}.${addresses & 255}.1`;
  return Object.assign(newBrowser(gateway.api), { headers: { 'x-forwarded-for': address } });
}

const now = () => time;

/** Turns the second factor of the user on, a minute ago. */
async function turnOn(by = browser) {
  const turnedOn = await turnOnSecondFactor(by, now);
  time += 2 * STEP;
  return turnedOn;
}

const signIn = (code?: string, by = elsewhere()) => by.signIn(email, PASSWORD, code);
const history = async () => {
  const query = 'query ($id: ID!) { objectHistory(id: $id) { nodes { action actorId after } } }';
  const { body } = await account.graphql(query, { id: userId });
  return body.data.objectHistory.nodes as { action: string; actorId: string | null; after: object | null }[];
};

test('until an app is confirmed, nothing is asked; from then on, a code', async () => {
  const { secret, url } = await newApp(browser, now);
  expect(url).toContain(
    `otpauth://totp/Tunnel%20Gateway%20gateway.example:${encodeURIComponent(email)}?secret=${secret}&`,
  );
  expect((await signIn()).body.errors).toBeUndefined();
  expect(refusal(await browser.ask('confirmSecondFactor', { code: '000000' }))).toBe(WRONG);
  const { codeAt, recoveryCodes } = await turnOn();
  expect(new Set(recoveryCodes).size).toBe(10);
  const refused = await signIn();
  expect(refusal(refused)).toBe(NEEDED);
  expect(refused.body.errors[0].extensions.field).toBe('code');
  const by = elsewhere();
  expect((await signIn(codeAt(0), by)).body.data.signIn.viewer.user.id).toBe(userId);
  expect((await by.ask('secondFactor')).body.data.viewer).toEqual({ hasSecondFactor: true, recoveryCodesLeft: 10 });
  expect(
    (await account.graphql('query ($id: ID!) { user(id: $id) { hasSecondFactor } }', { id: userId })).body.data,
  ).toEqual({
    user: { hasSecondFactor: true },
  });
});

test('whose password is wrong learns nothing of a second factor', async () => {
  const { codeAt } = await turnOn();
  for (const code of [undefined, codeAt(0)])
    expect(refusal(await elsewhere().signIn(email, 'not the right password', code))).toBe(
      'FORBIDDEN ERR_GATEWAY_90205',
    );
});

test('a code works once, and no older one after it', async () => {
  const { codeAt } = await turnOn();
  const codes = [codeAt(-1), codeAt(0), codeAt(1)];
  expect((await signIn(codes[1])).body.errors).toBeUndefined();
  expect(refusal(await signIn(codes[1]))).toBe(WRONG);
  expect(refusal(await signIn(codes[0]))).toBe(WRONG);
  expect((await signIn(` ${codes[2]?.slice(0, 3)} ${codes[2]?.slice(3)} `)).body.errors).toBeUndefined();
});

test('the code that has confirmed an app signs nobody in', async () => {
  const { codeAt } = await turnOn();
  time -= 2 * STEP;
  expect(refusal(await signIn(codeAt(0)))).toBe(WRONG);
});

test('a clock may be half a minute off, and not more', async () => {
  const { codeAt } = await turnOn();
  const [tooEarly, late] = [codeAt(2), codeAt(-1)];
  expect(refusal(await signIn(tooEarly))).toBe(WRONG);
  expect((await signIn(late)).body.errors).toBeUndefined();
  expect((await signIn(codeAt(1))).body.errors).toBeUndefined();
});

test('a recovery code works once, in place of the app', async () => {
  const [one = '', other = ''] = (await turnOn()).recoveryCodes;
  expect((await signIn(one)).body.errors).toBeUndefined();
  expect(refusal(await signIn(one))).toBe(WRONG);
  const by = elsewhere();
  expect((await signIn(other.replaceAll('-', '').toUpperCase(), by)).body.errors).toBeUndefined();
  expect((await by.ask('secondFactor')).body.data.viewer).toEqual({ hasSecondFactor: true, recoveryCodesLeft: 8 });
});

test('recovery codes are of one user', async () => {
  const { recoveryCodes } = await turnOn();
  const other = (await account.addOwner()).ownerId;
  await turnOn(await signedIn(gateway, account.key, other));
  const subject = `${other}@example.com`.toLowerCase();
  await gateway.app.prisma.owner.update({ where: { id: other }, data: { subject } });
  expect(refusal(await elsewhere().signIn(subject, PASSWORD, recoveryCodes[0]))).toBe(WRONG);
});

test.each([
  ['a code of the app', ({ codeAt }: Awaited<ReturnType<typeof turnOn>>) => codeAt(0)],
  ['a recovery code', ({ recoveryCodes }: Awaited<ReturnType<typeof turnOn>>) => recoveryCodes[0]],
])('of four who use %s at the same moment, one signs in', async (_, codeOf) => {
  const code = codeOf(await turnOn());
  const answers = await Promise.all([1, 2, 3, 4].map(() => signIn(code)));
  expect(answers.map(refusal).filter((one) => one === undefined)).toHaveLength(1);
  expect(answers.map(refusal).filter((one) => one === WRONG)).toHaveLength(3);
});

test('of two who confirm an app at the same moment, one gets recovery codes', async () => {
  const code = (await newApp(browser, now)).codeAt(0);
  const answers = await Promise.all([1, 2].map(() => browser.ask('confirmSecondFactor', { code })));
  expect(answers.map(refusal).sort()).toEqual([NONE, undefined]);
  expect((await browser.ask('secondFactor')).body.data.viewer.recoveryCodesLeft).toBe(10);
});

test('guessing codes slows down for all who know the password, wherever they are', async () => {
  const { codeAt } = await turnOn();
  for (let attempt = 1; attempt <= 5; attempt++) expect(refusal(await signIn('000000'))).toBe(WRONG);
  for (const seconds of [1, 2, 4, 8]) {
    expect(refusal(await signIn(codeAt(0)))).toBe(TOO_EARLY);
    // To ask for the code is no way round it.
    expect(refusal(await signIn())).toBe(NEEDED);
    time += seconds * 1000;
    expect(refusal(await signIn('000000'))).toBe(WRONG);
  }
  time += 16_000;
  expect((await signIn(codeAt(0))).body.errors).toBeUndefined();
});

test('many guesses at once are no way round it', async () => {
  await turnOn();
  const answers = await Promise.all(Array.from({ length: 12 }, () => signIn('000000')));
  expect(answers.filter((answer) => refusal(answer) === WRONG)).toHaveLength(5);
  expect(answers.filter((answer) => refusal(answer) === TOO_EARLY)).toHaveLength(7);
});

test('a link sets another password with a code only, and leaves the second factor on', async () => {
  const { codeAt } = await turnOn();
  const token = await linkFor(gateway, account.key, userId);
  const another = 'another good password';
  expect(refusal(await elsewhere().redeem(token, another))).toBe(NEEDED);
  expect(refusal(await elsewhere().redeem(token, another, '000000'))).toBe(WRONG);
  // Guesses of somebody who knows the password do not keep the user from it.
  for (let attempt = 1; attempt <= 5; attempt++) await signIn('000000');
  expect((await elsewhere().redeem(token, another, codeAt(0))).body.errors).toBeUndefined();
  time += STEP;
  expect(refusal(await elsewhere().signIn(email, another))).toBe(NEEDED);
});

test('it is turned on with the password, and off with the password and a code', async () => {
  expect(refusal(await browser.ask('beginSecondFactor', { password: 'not the right password' }))).toBe(
    'BAD_USER_INPUT ERR_GATEWAY_90211',
  );
  expect(refusal(await browser.ask('confirmSecondFactor', { code: '000000' }))).toBe(NONE);
  const off = (code: string, password = PASSWORD) => browser.ask('disableSecondFactor', { input: { password, code } });
  expect(refusal(await off('000000'))).toBe(NONE);
  const { codeAt } = await turnOn();
  expect(refusal(await browser.ask('beginSecondFactor', { password: PASSWORD }))).toBe(ON);
  expect(refusal(await off(codeAt(0), 'not the right password'))).toBe('BAD_USER_INPUT ERR_GATEWAY_90211');
  expect(refusal(await off('000000'))).toBe(WRONG);
  expect((await off(codeAt(0))).body.errors).toBeUndefined();
  expect((await browser.ask('secondFactor')).body.data.viewer).toEqual({
    hasSecondFactor: false,
    recoveryCodesLeft: 0,
  });
  expect((await signIn()).body.errors).toBeUndefined();
});

test('an admin turns off the second factor of another user, of the own account, and not the own', async () => {
  await turnOn();
  const remove = (key: string, id = userId) =>
    gateway.graphql(
      'mutation ($userId: ID!) { removeSecondFactor(userId: $userId) { wasOn } }',
      { userId: id },
      { key },
    );
  const stranger = await gateway.newAccount();
  expect(refusal(await remove(stranger.key))).toBe('NOT_FOUND ERR_GATEWAY_90020');
  expect(refusal(await browser.ask('removeSecondFactor', { userId: account.ownerId }))).toMatch(/^FORBIDDEN /);
  expect(refusal(await remove(account.key, account.ownerId))).toBe('CONFLICT ERR_GATEWAY_90260');
  expect(refusal(await signIn())).toBe(NEEDED);
  expect((await remove(account.key)).body.data.removeSecondFactor.wasOn).toBe(true);
  expect((await remove(account.key)).body.data.removeSecondFactor.wasOn).toBe(false);
  expect((await signIn()).body.errors).toBeUndefined();
});

test('all of it is in the audit trail and the log, and no secret is', async () => {
  const { codeAt, recoveryCodes } = await turnOn();
  await signIn(codeAt(0));
  await signIn(recoveryCodes[0]);
  await signIn('000000');
  const remove = 'mutation ($userId: ID!) { removeSecondFactor(userId: $userId) { wasOn } }';
  await account.graphql(remove, { userId });
  await expect
    .poll(async () => (await history()).map(({ action }) => action).sort(), { interval: 500 })
    .toContain('SIGN_IN_FAILED');
  const entries = await history();
  const ofAction = (action: string) => entries.filter((entry) => entry.action === action);
  expect(ofAction('SECOND_FACTOR_ON')).toMatchObject([{ actorId: userId, after: null }]);
  expect(ofAction('SECOND_FACTOR_OFF')).toMatchObject([{ actorId: account.ownerId, after: { by: 'admin' } }]);
  expect(ofAction('SIGN_IN_FAILED')).toMatchObject([{ actorId: null, after: { by: 'code', at: 'sign-in' } }]);
  expect(ofAction('SIGNED_IN').map(({ after }) => after)).toEqual([
    { by: 'password', second_factor: 'recovery code' },
    { by: 'password', second_factor: 'app' },
    { by: 'link' },
  ]);
  expect(gateway.logs.some((line) => line.includes('wrong code: sign-in'))).toBe(true);
  const told = JSON.stringify(entries) + gateway.logs.join();
  for (const secret of recoveryCodes) expect(told).not.toContain(secret);
  expect(JSON.stringify(await gateway.app.prisma.recoveryCode.findMany())).not.toContain(recoveryCodes[1]);
});

test('what is wrong with a password and with the code beside it is told in one answer, and no code is used up', async () => {
  const { codeAt } = await turnOn();
  const token = await linkFor(gateway, account.key, userId);
  const problemsOf = (answer: Awaited<ReturnType<Browser['ask']>>) =>
    answer.body.errors[0].extensions.problems.map(({ path, code }: { path: string[]; code: string }) => [
      path.join('.'),
      code,
    ]);
  const short = ['input.password', 'PASSWORD_LENGTH'];
  const needed = ['input.code', 'SECOND_FACTOR_NEEDED'];
  expect(problemsOf(await elsewhere().redeem(token, 'short'))).toEqual([short, needed]);
  expect(problemsOf(await elsewhere().redeem(token, 'short', codeAt(0)))).toEqual([short]);
  const there = elsewhere();
  expect((await there.redeem(token, PASSWORD, codeAt(0))).body.errors).toBeUndefined();
  const change = await there.ask('changePassword', { input: { current: 'not the right one', password: 'short' } });
  expect(problemsOf(change)).toEqual([['input.current', 'WRONG_PASSWORD'], short]);
  const wrong = ['input.password', 'WRONG_PASSWORD'];
  const proof = { password: 'not the right one', code: ' ' };
  expect(problemsOf(await there.ask('beginPasskey', { input: proof }))).toEqual([wrong, needed]);
  expect(problemsOf(await there.ask('disableSecondFactor', { input: proof }))).toEqual([wrong, needed]);
});
