// Cookies know no port: whoever serves pages on another port of the API's host gets the one of the dashboard. Alone it is
// worth nothing: the secret of the page has to come with it, which belongs to the page's origin, port included.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { type Browser, newBrowser, operations, PASSWORD, refusal, signedIn, startWithDashboard } from './browser.ts';

const OVER = 'UNAUTHENTICATED ERR_GATEWAY_90200';

let gateway: TestGateway;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard({}, { now: () => time });
});
afterAll(() => gateway.close());

const count = async () => (await gateway.graphql(operations.credentials)).body.data.credentials.totalCount;

describe.each([
  ['by our own framing', () => gateway.api],
  ['by Yoga’s adapter', () => gateway.byYoga()],
])('%s', (_, listener) => {
  let api: string;
  let admin: Browser;
  beforeAll(async () => {
    api = await listener();
    admin = await signedIn(gateway, gateway.key, gateway.ownerId, api);
  });

  const thief = (secret: string | undefined) => Object.assign(newBrowser(api), { cookie: admin.cookie, secret });

  test.each<[string, () => string | undefined]>([
    ['without the secret', () => undefined],
    ['with an empty one', () => ''],
    ['with one that was guessed', () => 'A'.repeat(43)],
    ['with one that differs at the end', () => `${admin.secret?.slice(0, -1)}!`],
    ['with the cookie in its place', () => admin.cookie],
  ])('the cookie %s is no session', async (_, secret) => {
    const before = await count();
    expect(refusal(await thief(secret()).ask('createCredential'))).toBe(OVER);
    expect(await count()).toBe(before);
    expect((await thief(secret()).ask('viewer')).body).toEqual({ data: { viewer: null } });
    expect(await (await thief(secret()).watch()).next()).toMatchObject({ errors: [{ extensions: { status: 401 } }] });
    expect((await admin.ask('viewer')).body.data.viewer.isAdmin).toBe(true);
  });

  test('who has the cookie alone cannot end the session either', async () => {
    expect((await thief(undefined).ask('signOut')).body).toEqual({ data: { signOut: { wasSignedIn: false } } });
    expect((await admin.ask('viewer')).body.data.viewer.isAdmin).toBe(true);
  });

  test('a cookie that a device put in place of the admin’s does not make the admin’s page act for the device', async () => {
    const stranger = await gateway.newAccount();
    const device = await signedIn(gateway, stranger.key, stranger.ownerId, api);
    const tossed = Object.assign(newBrowser(api), { cookie: device.cookie, secret: admin.secret });
    expect(refusal(await tossed.ask('createCredential'))).toBe(OVER);
  });
});

test('a stolen cookie does not count as a use: the session ends when its own page was idle for 12 hours', async () => {
  const admin = await signedIn(gateway, gateway.key, gateway.ownerId);
  const thief = Object.assign(newBrowser(gateway.api), { cookie: admin.cookie });
  for (let hour = 1; hour <= 12; hour++) {
    time += 3_600_000;
    await thief.ask('viewer');
  }
  expect(refusal(await admin.ask('credentials'))).toBe(OVER);
});

test('who has stolen both has nothing any more once the password is changed', async () => {
  const admin = await signedIn(gateway, gateway.key, gateway.ownerId);
  const thief = Object.assign(newBrowser(gateway.api), { cookie: admin.cookie, secret: admin.secret });
  expect((await thief.ask('viewer')).body.data.viewer.isAdmin).toBe(true);
  const input = { current: PASSWORD, password: 'a much better password' };
  expect((await admin.ask('changePassword', { input })).body.errors).toBeUndefined();
  expect(refusal(await thief.ask('credentials'))).toBe(OVER);
  expect((await admin.ask('viewer')).body.data.viewer.isAdmin).toBe(true);
});
