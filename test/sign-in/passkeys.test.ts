// Users add passkeys and remove them, with their password and a code; admins remove those of others.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { turnOnSecondFactor } from './authenticator.ts';
import { type Browser, newBrowser, PASSWORD, refusal, signedIn, startWithDashboard } from './browser.ts';
import { type CreationOptions, ORIGIN, PasskeyDevice, type Wrongs } from './passkey-device.ts';
import { addDevice, begin, signInWith } from './passkey-steps.ts';

const OVER = 'FORBIDDEN ERR_GATEWAY_90263';
const REFUSED = 'BAD_USER_INPUT ERR_GATEWAY_90264';
const KNOWN = 'CONFLICT ERR_GATEWAY_90265';
const TOO_MANY = 'CONFLICT ERR_GATEWAY_90266';
const NOT_FOUND = 'NOT_FOUND ERR_GATEWAY_90020';

let gateway: TestGateway;
let account: Account;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard({ PUBLIC_API_URL: ORIGIN }, { now: () => time });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

let userId: string;
let browser: Browser;
beforeEach(async () => {
  userId = (await account.addOwner()).ownerId;
  browser = await signedIn(gateway, account.key, userId);
});

const add = (credential: unknown, name = 'a phone', by = browser) =>
  by.ask('addPasskey', { input: { name, credential } });
const remove = (id: string, proof: object = {}, by = browser) =>
  by.ask('removePasskey', { id, input: { password: PASSWORD, ...proof } });
const names = async () => (await browser.ask('passkeys')).body.data.passkeys.map(({ name }: { name: string }) => name);

test('a user adds passkeys and removes one; the trail tells of both, and nobody else has them', async () => {
  await addDevice(browser);
  const { id } = await addDevice(browser, 'a key');
  expect(await names()).toEqual(['a key', 'a phone']);
  const other = await signedIn(gateway, account.key, (await account.addOwner()).ownerId);
  expect((await other.ask('passkeys')).body.data.passkeys).toEqual([]);
  expect(refusal(await remove(id, {}, other))).toBe(NOT_FOUND);
  expect((await remove(id)).body.data.removePasskey.removedPasskeyId).toBe(id);
  expect(refusal(await remove(id))).toBe(NOT_FOUND);
  expect(await names()).toEqual(['a phone']);
  const query = 'query ($id: ID!) { objectHistory(id: $id) { nodes { action actorId after } } }';
  const { body } = await account.graphql(query, { id: userId });
  const after = { passkey_id: id, name: 'a key' };
  for (const action of ['PASSKEY_ADDED', 'PASSKEY_REMOVED'])
    expect(body.data.objectHistory.nodes).toContainEqual({ action, actorId: userId, after });
});

test('the browser is asked for a key that it finds by itself, verifies the user, and knows no address', async () => {
  const { device } = await addDevice(browser);
  const options: CreationOptions = await begin(browser);
  expect(options).toMatchObject({
    rp: { id: 'gateway.example' },
    ...{ attestation: 'none', timeout: 300_000 },
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: [{ id: Buffer.from(device.credentialId).toString('base64url') }],
  });
  expect(Buffer.from(options.user.id, 'base64url').toString()).toBe(userId);
});

test('adding and removing one take the password, and a code where there is a second factor', async () => {
  const wrong = { password: 'not the right password' };
  expect(refusal(await browser.ask('beginPasskey', { input: wrong }))).toBe('BAD_USER_INPUT ERR_GATEWAY_90211');
  const { id } = await addDevice(browser);
  expect(refusal(await remove(id, wrong))).toBe('BAD_USER_INPUT ERR_GATEWAY_90211');
  const { recoveryCodes } = await turnOnSecondFactor(browser, () => time);
  const needed = 'FORBIDDEN ERR_GATEWAY_90226';
  expect(refusal(await browser.ask('beginPasskey', { input: { password: PASSWORD } }))).toBe(needed);
  expect(refusal(await remove(id))).toBe(needed);
  await addDevice(browser, 'a key', recoveryCodes[0]);
  expect(refusal(await remove(id, { code: recoveryCodes[0] }))).toBe('BAD_USER_INPUT ERR_GATEWAY_90227');
  expect((await remove(id, { code: recoveryCodes[1] })).body.errors).toBeUndefined();
});

const wrongs: [string, Wrongs][] = [
  ['of another origin', { origin: 'https://evil.example' }],
  ['for another RP ID', { rpId: 'evil.example' }],
  ['to another challenge', { challenge: 'A'.repeat(43) }],
  ['without user verification', { isUserVerified: false }],
  ['of a page in a frame of another site', { crossOrigin: true }],
  ['with an attestation of somebody', { format: 'android-key' }],
];
test.each(wrongs)('an answer %s is refused', async (_, wrong) => {
  expect(refusal(await add(new PasskeyDevice().create(await begin(browser), wrong)))).toBe(REFUSED);
  expect(await names()).toEqual([]);
});

test('what is no answer at all is refused with what is wrong', async () => {
  await begin(browser);
  const answer = await add({ id: 'AAAA' });
  expect(refusal(answer)).toBe(REFUSED);
  expect(answer.body.errors[0].extensions.field).toBe('credential');
});

test('an answer works once, for the user and the browser that were asked, and for five minutes', async () => {
  const credential = new PasskeyDevice().create(await begin(browser));
  const other = await signedIn(gateway, account.key, (await account.addOwner()).ownerId);
  expect(
    refusal(await add(credential, 'a phone', Object.assign(other, { passkeyCookie: browser.passkeyCookie }))),
  ).toBe(OVER);
  const kept = browser.passkeyCookie;
  const { body } = await add(credential);
  await remove(body.data.addPasskey.passkey.id);
  expect(refusal(await add(credential))).toBe(OVER);
  browser.passkeyCookie = kept;
  expect(refusal(await add(credential))).toBe(OVER);
  const late = new PasskeyDevice().create(await begin(browser));
  time += 5 * 60_000;
  expect(refusal(await add(late))).toBe(OVER);
});

test('whoever has begun with a password that was changed since adds nothing', async () => {
  const credential = new PasskeyDevice().create(await begin(browser));
  time += 1000;
  await browser.ask('changePassword', { input: { current: PASSWORD, password: 'another good password' } });
  expect(refusal(await add(credential))).toBe(OVER);
});

test('a key pair is added once, with a name in one line', async () => {
  const device = new PasskeyDevice();
  for (const name of [' ', 'two\nlines', 'x'.repeat(256)])
    expect(refusal(await add(device.create(await begin(browser)), name))).toBe('BAD_USER_INPUT ERR_GATEWAY_90268');
  expect((await add(device.create(await begin(browser)), 'é'.repeat(127))).body.errors).toBeUndefined();
  expect(refusal(await add(device.create(await begin(browser))))).toBe(KNOWN);
});

test('a user has at most 20, also when two are added at the same moment', async () => {
  const { device, id } = await addDevice(browser);
  const { id: _, credentialId, ...row } = await gateway.app.prisma.passkey.findUniqueOrThrow({ where: { id } });
  const rows = Array.from({ length: 18 }, (_, at) => ({
    ...row,
    id: `${id}${at}`,
    credentialId: `${credentialId}${at}`,
  }));
  await gateway.app.prisma.passkey.createMany({ data: rows });
  const copy = Object.assign(newBrowser(gateway.api), { cookie: browser.cookie, secret: browser.secret });
  const [one, other] = [await begin(browser), await begin(copy)];
  const answers = await Promise.all([
    add(new PasskeyDevice().create(one)),
    add(new PasskeyDevice().create(other), 'a key', copy),
  ]);
  expect(answers.map(refusal).sort()).toEqual([TOO_MANY, undefined]);
  expect(refusal(await browser.ask('beginPasskey', { input: { password: PASSWORD } }))).toBe(TOO_MANY);
  expect((await signInWith(newBrowser(gateway.api), device)).body.errors).toBeUndefined();
});

test('an admin removes all of another user of the account, and not the own', async () => {
  const { device } = await addDevice(browser);
  await addDevice(browser, 'a key');
  const ask = (key: string, id = userId) =>
    gateway.graphql(
      'mutation ($userId: ID!) { removePasskeys(userId: $userId) { removedPasskeys } }',
      { userId: id },
      { key },
    );
  const has = async () =>
    (await account.graphql('query ($id: ID!) { user(id: $id) { hasPasskeys } }', { id: userId })).body.data.user;
  expect(refusal(await ask((await gateway.newAccount()).key))).toBe(NOT_FOUND);
  expect(refusal(await ask(account.key, account.ownerId))).toBe('CONFLICT ERR_GATEWAY_90267');
  expect(await has()).toEqual({ hasPasskeys: true });
  expect((await ask(account.key)).body.data.removePasskeys.removedPasskeys).toBe(2);
  expect(await has()).toEqual({ hasPasskeys: false });
  expect(refusal(await signInWith(newBrowser(gateway.api), device))).toBe('FORBIDDEN ERR_GATEWAY_90262');
});

describe('where no passkeys can be', () => {
  const query = '{ signInOffer { passkeyHost } }';

  test('the page is told so at an IP address, and the name at localhost', async () => {
    const { graphql } = await sharedGateway();
    const hostAt = async (host?: string) =>
      (await graphql(query, {}, host === undefined ? {} : { headers: { host } })).body.data.signInOffer.passkeyHost;
    expect(await hostAt()).toBeNull();
    expect(await hostAt('localhost:4000')).toBe('localhost');
  });

  test('nobody begins to add one, or to sign in with one', async () => {
    const shared = await sharedGateway();
    const stranger = newBrowser(shared.api);
    expect(refusal(await stranger.post({ query: 'mutation { beginPasskeySignIn { options } }' }))).toBe(
      'CONFLICT ERR_GATEWAY_90261',
    );
  });
});

test('with single sign-on, only the user who may have a password signs in with a passkey', async () => {
  const sso = await startWithDashboard({
    ...{ PUBLIC_API_URL: ORIGIN, SSO_ISSUER: 'https://id.invalid', SSO_CLIENT_ID: 'gateway' },
    SSO_PASSWORD_USER: 'keeper@example.com',
  });
  try {
    const there = await sso.newAccount();
    const { ownerId: id } = await there.addOwner();
    const rename = (subject: string) => sso.app.prisma.owner.update({ where: { id }, data: { subject } });
    await rename('keeper@example.com');
    const keeper = await signedIn(sso, there.key, id);
    const { device } = await addDevice(keeper);
    expect((await signInWith(newBrowser(sso.api), device)).body.errors).toBeUndefined();
    await rename('another@example.com');
    const refused = 'FORBIDDEN ERR_GATEWAY_90225';
    expect(refusal(await signInWith(newBrowser(sso.api), device))).toBe(refused);
    expect(refusal(await keeper.ask('beginPasskey', { input: { password: PASSWORD } }))).toBe(refused);
  } finally {
    await sso.close();
  }
});
