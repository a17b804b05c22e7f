// The whole life of a browser session, from the link that the first start prints.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';
import { type Browser, newBrowser, operations, PASSWORD, refusal, startWithDashboard } from './browser.ts';

const ADMIN = 'admin@localhost';
/** As pino numbers it. */
const INFO = 30;
const key = Buffer.alloc(32, 1).toString('base64');

describe('after the first start', () => {
  let place: Place;
  let gateway: TestGateway;
  beforeAll(async () => {
    place = await newPlace();
    gateway = await startWithDashboard({}, { place });
  });
  afterAll(async () => {
    await gateway.close();
    await place.remove();
  });

  const first = { cookie: '', secret: '' };
  const keep = ({ cookie = '', secret = '' }: Browser) => Object.assign(first, { cookie, secret });

  test('nobody is signed in, and nothing is set up', async () => {
    const browser = newBrowser(gateway.api);
    expect((await browser.ask('viewer')).body).toEqual({ data: { viewer: null } });
    expect((await browser.ask('offer')).body.data.signInOffer).toMatchObject({
      isOffered: true,
      reason: null,
      isSetUp: false,
    });
    expect(refusal(await browser.ask('credentials'))).toBe('UNAUTHENTICATED ERR_GATEWAY_200');
    expect(refusal(await browser.signIn(ADMIN))).toBe('FORBIDDEN ERR_GATEWAY_90205');
  });

  test('the link of the start sets the admin’s password and signs in', async () => {
    const browser = newBrowser(gateway.api);
    const answer = await browser.redeem(gateway.signInToken ?? '');
    expect(answer.body.data.redeemSignInLink.viewer).toMatchObject({
      user: { id: gateway.ownerId, __typename: 'User' },
      isAdmin: true,
      hasPassword: true,
      session: { ip: '127.0.0.1', userAgent: 'a browser of these tests', isThis: true },
    });
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-gateway_session=[\w-]{43}; Max-Age=2592000; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
      ),
    ]);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { pageSecret, ...facts } = answer.body.data.redeemSignInLink.viewer;
    expect(pageSecret).toMatch(/^[\w-]{43}$/);
    expect((await browser.ask('viewer')).body.data.viewer).toEqual(facts);
    expect((await browser.ask('credentials')).body.data.credentials.totalCount).toBe(1);
    keep(browser);
  });

  test('what is created in a browser belongs to who is signed in there', async () => {
    const browser = newBrowser(gateway.api);
    Object.assign(browser, first);
    expect((await browser.ask('createCredential')).body.data.createCredential.credential.ownerId).toBe(gateway.ownerId);
  });

  test('a password signs in at another browser, whatever the case of the e-mail address', async () => {
    const browser = newBrowser(gateway.api);
    const answer = await browser.signIn(' Admin@LocalHost ');
    expect(answer.body.data.signIn.viewer).toMatchObject({ user: { id: gateway.ownerId }, session: { isThis: true } });
    const { data } = (await browser.ask('sessions')).body;
    expect(data.browserSessions.map(({ isThis }: { isThis: boolean }) => isThis)).toEqual([true, false]);
    await browser.ask('signOut');
  });

  test('signing in anew ends the session that the browser had', async () => {
    const browser = newBrowser(gateway.api);
    await browser.signIn(ADMIN);
    const before = { cookie: browser.cookie, secret: browser.secret };
    await browser.signIn(ADMIN);
    const after = { cookie: browser.cookie, secret: browser.secret };
    Object.assign(browser, before);
    expect(refusal(await browser.ask('credentials'))).toBe('UNAUTHENTICATED ERR_GATEWAY_90200');
    Object.assign(browser, after);
    await browser.ask('signOut');
  });

  test('signing out ends the session on the server, not only in the browser', async () => {
    const browser = newBrowser(gateway.api);
    await browser.signIn(ADMIN);
    const { cookie, secret } = browser;
    const answer = await browser.ask('signOut');
    expect(answer.body).toEqual({ data: { signOut: { wasSignedIn: true } } });
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^__Host-gateway_session=; Max-Age=0; /);
    Object.assign(browser, { cookie, secret });
    expect((await browser.ask('viewer')).body).toEqual({ data: { viewer: null } });
    expect(refusal(await browser.ask('credentials'))).toBe('UNAUTHENTICATED ERR_GATEWAY_90200');
    expect((await browser.ask('signOut')).body).toEqual({ data: { signOut: { wasSignedIn: false } } });
  });

  test('another password ends the other sessions, and the one before works no longer', async () => {
    const [one, other] = [newBrowser(gateway.api), newBrowser(gateway.api)];
    await one.signIn(ADMIN);
    await other.signIn(ADMIN);
    const change = (current: string, password: string) => one.ask('changePassword', { input: { current, password } });
    const wrong = await change('not the right one at all', 'a much better password');
    expect(refusal(wrong)).toBe('BAD_USER_INPUT ERR_GATEWAY_90211');
    expect(wrong.body.errors[0].extensions.field).toBe('current');
    expect((await change(PASSWORD, 'short')).body.errors[0].extensions.field).toBe('password');
    expect((await change(PASSWORD, 'a much better password')).body.data.changePassword.viewer.session.isThis).toBe(
      true,
    );
    expect((await one.ask('viewer')).body.data.viewer).not.toBeNull();
    expect((await other.ask('viewer')).body.data.viewer).toBeNull();
    expect(refusal(await other.signIn(ADMIN))).toBe('FORBIDDEN ERR_GATEWAY_90205');
    expect((await change('a much better password', PASSWORD)).body.errors).toBeUndefined();
    keep(one);
  });

  test('with an API key, viewer tells whose it is, and documents go by their digest too', async () => {
    const { body } = await gateway.graphql(operations.viewer);
    expect(body.data.viewer).toMatchObject({ user: { id: gateway.ownerId }, isAdmin: true, session: null });
    const browser = newBrowser(gateway.api);
    browser.headers = { authorization: `Bearer ${gateway.key}` };
    expect((await browser.ask('credentials')).body.data.credentials.totalCount).toBe(2);
  });

  test('each sign-in is in the log, with who and from where, and no secret is', async () => {
    const lines = gateway.logs.map((line) => JSON.parse(line));
    const signIns = lines.filter(({ level }) => level === INFO).flatMap(({ sign_ins: signIns = [] }) => signIns);
    const admin = { ip: '127.0.0.1', user_id: gateway.ownerId };
    expect(signIns).toContainEqual({ outcome: 'ok', by: 'link', ...admin });
    expect(signIns).toContainEqual({ outcome: 'ok', by: 'password', ...admin });
    expect(signIns).toContainEqual({ outcome: 'failed', by: 'password', ...admin });
    for (const secret of [
      PASSWORD,
      'a much better password',
      gateway.signInToken ?? '',
      first.cookie,
      first.secret,
      '$argon2id',
    ])
      expect(gateway.logs.filter((line) => line.includes(secret))).toEqual([]);
  });

  test('a restart keeps sessions, and prints no link once an admin has a password', { timeout: 60_000 }, async () => {
    await gateway.close();
    // With another key, and with the one of before beside it: what follows goes on with the new one alone.
    const old = (await readFile(`${place.dataDir}/server.key`, 'utf8')).trim();
    gateway = await startWithDashboard({ SERVER_KEY: key, SERVER_KEY_PREVIOUS: old }, { place });
    const browser = newBrowser(gateway.api);
    Object.assign(browser, first);
    expect((await browser.ask('viewer')).body.data.viewer).toMatchObject({ user: { id: gateway.ownerId } });
    expect(gateway.signInToken).toBeNull();
    expect((await browser.ask('offer')).body.data.signInOffer.isSetUp).toBe(true);
  });

  test('sessions outlive a change of the server key', { timeout: 60_000 }, async () => {
    await gateway.close();
    gateway = await startWithDashboard({ SERVER_KEY: key }, { place });
    const later = newBrowser(gateway.api);
    Object.assign(later, first);
    expect((await later.ask('viewer')).body.data.viewer).not.toBeNull();
    expect((await later.signIn(ADMIN)).body.errors).toBeUndefined();
  });
});
