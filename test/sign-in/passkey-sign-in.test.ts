// Users sign in with a passkey, and with nothing that only looks like one.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';
import { turnOnSecondFactor } from './authenticator.ts';
import { type Browser, newBrowser, PASSWORD, refusal, signedIn, startWithDashboard } from './browser.ts';
import { ORIGIN, PasskeyDevice, type Wrongs } from './passkey-device.ts';
import { addDevice, complete, signInWith } from './passkey-steps.ts';

const FAILED = 'FORBIDDEN ERR_GATEWAY_90262';
const OVER = 'FORBIDDEN ERR_GATEWAY_90263';
const TOO_EARLY = 'RATE_LIMITED ERR_GATEWAY_90206';
const MINUTE = 60_000;

let gateway: TestGateway;
let account: Account;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard({ PUBLIC_API_URL: ORIGIN, TRUSTED_PROXIES: '127.0.0.1' }, { now: () => time });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

/** A user who is signed in. */
async function newUser() {
  const userId = (await account.addOwner()).ownerId;
  return { userId, browser: await signedIn(gateway, account.key, userId) };
}

let userId: string;
let browser: Browser;
let device: PasskeyDevice;
let passkeyId: string;
beforeEach(async () => {
  ({ userId, browser } = await newUser());
  ({ device, id: passkeyId } = await addDevice(browser));
});

let addresses = 0;
/** A browser at an address of its own. */
function elsewhere() {
  const address = `10.${++addresses >> 8}.${addresses & 255}.1`;
  return Object.assign(newBrowser(gateway.api), { headers: { 'x-forwarded-for': address } });
}

const history = async () => {
  const query = 'query ($id: ID!) { objectHistory(id: $id) { nodes { action actorId after } } }';
  const { body } = await account.graphql(query, { id: userId });
  return body.data.objectHistory.nodes as { action: string; actorId: string | null; after: object | null }[];
};

test('a passkey signs in alone: no password, no code, also where there is a second factor', async () => {
  await turnOnSecondFactor(browser, () => time);
  const by = elsewhere();
  expect((await signInWith(by, device)).body.data.completePasskeySignIn.viewer.user.id).toBe(userId);
  expect(by.passkeyCookie).toBeUndefined();
  const { body } = await by.ask('passkeys');
  expect(body.data.passkeys).toEqual([
    { id: passkeyId, name: 'a phone', createdAt: expect.any(String), lastUsedAt: expect.any(String) },
  ]);
  expect(await history()).toContainEqual({ action: 'SIGNED_IN', actorId: userId, after: { by: 'passkey' } });
});

test('the page is told for which name passkeys are, and nothing of any user', async () => {
  const by = elsewhere();
  const { body, headers } = await by.ask('beginPasskeySignIn');
  expect(body.data.beginPasskeySignIn.options).toMatchObject({ rpId: 'gateway.example', userVerification: 'required' });
  expect(body.data.beginPasskeySignIn.options.allowCredentials ?? []).toEqual([]);
  expect(headers['set-cookie']?.[0]).toMatch(
    /^__Host-gateway_session\.passkey=v1\.[\w.-]+; Max-Age=300; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
  );
});

const wrongs: [string, Wrongs][] = [
  ['of another origin', { origin: 'https://gateway.example.evil.example' }],
  ['of another port', { origin: `${ORIGIN}:8443` }],
  ['of a page in a frame of another site', { crossOrigin: true }],
  ['for another RP ID', { rpId: 'evil.example' }],
  ['without user verification', { isUserVerified: false }],
  ['for another user', { userHandle: Buffer.from('usr_another').toString('base64url') }],
  ['to another challenge', { challenge: 'A'.repeat(43) }],
];
test.each(wrongs)('an answer %s is refused', async (_, wrong) => {
  expect(refusal(await signInWith(elsewhere(), device, wrong))).toBe(FAILED);
  expect((await signInWith(elsewhere(), device)).body.errors).toBeUndefined();
});

test('a signature that was tampered with, or is of another key, is refused', async () => {
  const [by, byOther] = [elsewhere(), elsewhere()];
  const answer = device.get((await by.ask('beginPasskeySignIn')).body.data.beginPasskeySignIn.options);
  const signature = Buffer.from(answer.response.signature, 'base64url');
  signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
  answer.response.signature = signature.toString('base64url');
  expect(refusal(await complete(by, answer))).toBe(FAILED);

  const other = await newUser();
  const { device: theirs } = await addDevice(other.browser);
  const forged = theirs.get((await byOther.ask('beginPasskeySignIn')).body.data.beginPasskeySignIn.options);
  forged.id = forged.rawId = Buffer.from(device.credentialId).toString('base64url');
  expect(refusal(await complete(byOther, forged))).toBe(FAILED);
});

test.each([
  ['nothing', null],
  ['a text', 'a passkey'],
  ['an object without a response', { id: 'AAAA' }],
])('%s in place of an answer is refused', async (_, answer) => {
  const by = elsewhere();
  await by.ask('beginPasskeySignIn');
  const { body, status } = await complete(by, answer);
  expect(status).toBeLessThan(500);
  expect(body.errors[0].extensions.code).toMatch(/^(FORBIDDEN|BAD_USER_INPUT)$/);
});

test('an answer works once, in the browser that was asked, and for five minutes', async () => {
  const [by, other, late] = [elsewhere(), elsewhere(), elsewhere()];
  const answer = device.get((await by.ask('beginPasskeySignIn')).body.data.beginPasskeySignIn.options);
  expect(refusal(await complete(other, answer))).toBe(OVER);
  await other.ask('beginPasskeySignIn');
  expect(refusal(await complete(other, answer))).toBe(FAILED);
  const kept = by.passkeyCookie;
  expect((await complete(by, answer)).body.errors).toBeUndefined();
  expect(refusal(await complete(Object.assign(elsewhere(), { passkeyCookie: kept }), answer))).toBe(OVER);

  const slow = device.get((await late.ask('beginPasskeySignIn')).body.data.beginPasskeySignIn.options);
  time += 5 * MINUTE;
  expect(refusal(await complete(late, slow))).toBe(OVER);
});

test('of four who send one answer at the same moment, one signs in', async () => {
  const by = elsewhere();
  const answer = device.get((await by.ask('beginPasskeySignIn')).body.data.beginPasskeySignIn.options);
  const copies = Array.from({ length: 4 }, () => Object.assign(elsewhere(), { passkeyCookie: by.passkeyCookie }));
  const answers = await Promise.all(copies.map((copy) => complete(copy, answer)));
  expect(answers.map(refusal).sort()).toEqual([OVER, OVER, OVER, undefined]);
});

test('a counter that goes back or stands still tells of a copy, which is refused, and the audit trail has it', async () => {
  expect((await signInWith(elsewhere(), device, { counter: 7 })).body.errors).toBeUndefined();
  for (const counter of [7, 6, 0]) expect(refusal(await signInWith(elsewhere(), device, { counter }))).toBe(FAILED);
  expect((await signInWith(elsewhere(), device, { counter: 8 })).body.errors).toBeUndefined();
  expect(gateway.logs.some((line) => line.includes('its counter went back'))).toBe(true);
  await expect
    .poll(async () => (await history()).filter(({ action }) => action === 'SIGN_IN_FAILED'), { interval: 500 })
    .toMatchObject(Array(3).fill({ actorId: null, after: { by: 'passkey', at: 'sign-in' } }));
});

test('whose passkey was removed, who was deactivated or deleted, and who has none is told the same', async () => {
  const unknown = new PasskeyDevice();
  const told = async (one: PasskeyDevice) => (await signInWith(elsewhere(), one)).body.errors;
  const [expected] = await told(unknown);
  expect(expected.extensions.errorCode).toBe('ERR_GATEWAY_90262');
  const same = [{ message: expected.message, extensions: { errorCode: expected.extensions.errorCode } }];

  const { device: second, id } = await addDevice(browser, 'a key');
  await browser.ask('removePasskey', { id, input: { password: PASSWORD } });
  expect(await told(second)).toMatchObject(same);
  const set = (active: boolean) =>
    account.graphql(
      'mutation ($id: ID!, $active: Boolean) { updateUser(id: $id, input: { active: $active }) { user { id } } }',
      {
        ...{ id: userId, active },
      },
    );
  await set(false);
  expect(await told(device)).toMatchObject(same);
  await set(true);
  expect(await told(device)).toBeUndefined();
  await gateway.app.prisma.apiKey.deleteMany({ where: { ownerId: userId } });
  await gateway.app.prisma.owner.delete({ where: { id: userId } });
  expect(await gateway.app.prisma.passkey.count({ where: { id: passkeyId } })).toBe(0);
  expect(await told(device)).toMatchObject(same);
});

test('after five failures from one address, a right passkey waits, too', async () => {
  const by = elsewhere();
  for (let attempt = 1; attempt <= 5; attempt++)
    expect(refusal(await signInWith(by, device, { isUserVerified: false }))).toBe(FAILED);
  expect(refusal(await signInWith(by, device))).toBe(TOO_EARLY);
  time += 1000;
  expect((await signInWith(by, device)).body.errors).toBeUndefined();
});

test('only pages of the dashboard sign in so', async () => {
  const by = elsewhere();
  by.headers = { ...by.headers, 'sec-fetch-site': 'cross-site' };
  const [begun, completed] = [await by.ask('beginPasskeySignIn'), await complete(by, {})];
  for (const answer of [begun, completed]) expect(refusal(answer)).toBe('FORBIDDEN ERR_GATEWAY_90201');
});
