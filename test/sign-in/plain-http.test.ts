// Over plain HTTP a password would be read on the way: sign-in is offered on this machine alone.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { linkFor, newBrowser, refusal, startWithDashboard } from './browser.ts';

const NOT_OFFERED = 'FORBIDDEN ERR_GATEWAY_90204';

let gateway: TestGateway;

describe('without TLS', () => {
  beforeAll(async () => {
    gateway = await startWithDashboard();
  });
  afterAll(() => gateway.close());

  test.each([
    ['by a name that is not loopback', { host: 'gateway.example:4000', origin: 'http://gateway.example:4000' }],
    ['by a proxy on this machine', { 'x-forwarded-for': '192.0.2.1' }],
  ])('sign-in is refused to who asks %s, and what would change that is said', async (_, headers) => {
    const account = await gateway.newAccount();
    const link = await linkFor(gateway, account.key, account.ownerId);
    const browser = Object.assign(newBrowser(gateway.api), { headers });
    const { signInOffer } = (await browser.ask('offer')).body.data;
    expect(signInOffer).toMatchObject({ isOffered: false, isSetUp: false });
    for (const name of ['API_TLS_CERT', 'API_TLS_KEY', 'PUBLIC_API_URL']) expect(signInOffer.reason).toContain(name);
    const redeemed = await browser.redeem(link);
    expect(refusal(redeemed)).toBe(NOT_OFFERED);
    expect(redeemed.body.errors[0].message).toBe(signInOffer.reason);
    expect(redeemed.headers['set-cookie']).toBeUndefined();
    // The link was not used up by it.
    const here = newBrowser(gateway.api);
    expect((await here.redeem(link)).body.errors).toBeUndefined();
    expect(refusal(await browser.signIn('admin@localhost'))).toBe(NOT_OFFERED);
  });
});

describe('behind a proxy that ends TLS', () => {
  beforeAll(async () => {
    gateway = await startWithDashboard({ PUBLIC_API_URL: 'https://gateway.example', TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => gateway.close());

  test('it is offered, and the proxy says who asks', async () => {
    const browser = newBrowser(gateway.api);
    browser.headers = {
      ...{ host: 'gateway.example', origin: 'https://gateway.example' },
      ...{ 'sec-fetch-site': undefined, 'x-forwarded-for': 'spoofed, 198.51.100.7, 2001:db8::7' },
    };
    expect((await browser.ask('offer')).body.data.signInOffer).toMatchObject({ isOffered: true, reason: null });
    const answer = await browser.redeem(await linkFor(gateway, gateway.key, gateway.ownerId));
    expect(answer.body.data.redeemSignInLink.viewer.session.ip).toBe('2001:db8::7');
    expect((await browser.ask('viewer')).body.data.viewer.isAdmin).toBe(true);
    browser.headers = { ...browser.headers, 'x-forwarded-for': 'nonsense' };
    expect((await browser.signIn('admin@localhost')).body.data.signIn.viewer.session.ip).toBe('127.0.0.1');
  });

  test('a link leads to the public address, and its token is behind the #', async () => {
    const query = 'mutation ($userId: ID!) { createSignInLink(userId: $userId) { signInLink { url } } }';
    const { body } = await gateway.graphql(query, { userId: gateway.ownerId });
    expect(body.data.createSignInLink.signInLink.url).toMatch(
      /^https:\/\/gateway\.example\/dashboard\/sign-in#[\w-]{43}$/,
    );
  });
});
