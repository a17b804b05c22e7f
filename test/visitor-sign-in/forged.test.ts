// Answers that no provider has given, or not to this browser: each is refused, with the number that says why.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ReachableHosts } from '../../src/net/reachable-hosts.ts';
import { callbackPath } from '../../src/visitor-sign-in/callback-address.ts';
import { guardedFetch } from '../../src/visitor-sign-in/guarded-fetch.ts';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import type { Browser } from './browser.ts';
import { errorOf, logIn, type Stage, setStage } from './support.ts';

let gateway: TestGateway;
let stage: Stage;
let origin: string;

beforeAll(async () => {
  gateway = await sharedGateway();
  stage = await setStage(gateway);
  origin = await stage.serve();
});
afterEach(() => {
  stage.provider.intercept = undefined;
});
afterAll(() => stage.close());

/** What the provider was told when the last log-in of a browser began. */
const nonces = new WeakMap<Browser, string>();

/** Signs in up to a redirect to a URL that begins so. @returns that URL. */
async function locationOf(prefix: string, browser: Browser, at = origin, login = 'ann'): Promise<URL> {
  const until = (url: string) => url.startsWith(prefix);
  const first = await browser.open(`${at}/orders`, { until });
  const asked = first.way.find((one) => one.includes('nonce='));
  if (asked) nonces.set(browser, new URL(asked).searchParams.get('nonce') ?? '');
  const page = first.status === 200 ? await logIn(browser, first, login, { until }) : first;
  const url = new URL(page.headers.location ?? '', page.url);
  expect(url.href.startsWith(prefix)).toBe(true);
  return url;
}

const callback = () => gateway.api + callbackPath(gateway.accountId, stage.provider.issuer);
const finish = (at = origin) => `${at}/_gateway/oauth2/finish`;

describe('an answer that was changed on its way', () => {
  const changed = (change: (query: URLSearchParams) => void) => async () => {
    const browser = stage.browser();
    const url = await locationOf(callback(), browser);
    change(url.searchParams);
    return browser.open(url.href);
  };
  const set = (values: Record<string, string>) =>
    changed((query) => Object.entries(values).forEach(([name, value]) => void query.set(name, value)));
  const instead = (values: Record<string, string>) =>
    changed((query) => {
      query.delete('code');
      Object.entries(values).forEach(([name, value]) => void query.set(name, value));
    });

  test.each([
    ['without a state', changed((query) => query.delete('state')), 5200],
    ['with two states', changed((query) => query.append('state', 'a')), 5200],
    ['with a state of nobody', set({ state: 'v1.abcdef.AAAA' }), 5200],
    [
      'with a state that was changed',
      changed((query) => query.set('state', `${query.get('state')?.slice(0, -8)}AAAAAAAA`)),
      5200,
    ],
    ['with a code of nobody', set({ code: 'guessed' }), 3122],
    ['with two codes', changed((query) => query.append('code', 'a')), 5204],
    ['from another issuer (RFC 9207)', set({ iss: 'https://other.example' }), 5204],
    ['from nobody, although the provider says that it sends that', changed((query) => query.delete('iss')), 5204],
    ['that says that the visitor did not agree', instead({ error: 'access_denied' }), 3114],
    ['that says that the provider failed', instead({ error: 'server_error' }), 3112],
  ])('%s', async (_, come, number) => {
    const page = await come();
    expect([errorOf(page), page.headers['cache-control']]).toEqual([`ERR_GATEWAY_${number}`, 'no-store']);
    expect(page.headers['set-cookie']?.join() ?? '').not.toContain('visitor=');
  });

  test('what the provider says in it is not in the page', async () => {
    const page = await instead({ error: 'server_error', error_description: '<script>alert(1)</script>' })();
    expect(errorOf(page)).toBe('ERR_GATEWAY_3112');
    expect(page.body).not.toMatch(/script|alert/);
    expect(page.body).toContain('<a href="/_gateway/login">Try again</a>');
  });
});

describe('an answer that comes elsewhere', () => {
  test('to another browser is refused, so that nobody is signed in as somebody else', async () => {
    const url = await locationOf(finish(), stage.browser());
    const victim = stage.browser();
    expect(errorOf(await victim.open(url.href))).toBe('ERR_GATEWAY_3121');
  });

  test('to another host is refused', async () => {
    const other = await stage.serve();
    const browser = stage.browser();
    const url = await locationOf(finish(), browser);
    const moved = `${finish(other)}${url.search}`;
    expect(errorOf(await browser.open(moved))).toBe('ERR_GATEWAY_3124');
  });

  test("with somebody else's code is refused: PKCE binds it to the log-in", async () => {
    const theirs = await locationOf(callback(), stage.browser(), origin, 'bob');
    const browser = stage.browser();
    const url = await locationOf(callback(), browser);
    url.searchParams.set('code', theirs.searchParams.get('code') ?? '');
    expect(errorOf(await browser.open(url.href))).toBe('ERR_GATEWAY_3122');
  });

  test('a second time is refused', async () => {
    const browser = stage.browser();
    const url = await locationOf(finish(), browser);
    const copy = browser.copy();
    expect((await browser.open(url.href)).status).toBe(200);
    for (const one of [copy, browser, stage.browser()])
      expect(errorOf(await one.open(url.href))).toBe('ERR_GATEWAY_3123');
  });

  test("a session's cookie is worth nothing at another host, nor when another one was planted beside it", async () => {
    const other = await stage.serve();
    const { browser } = await stage.signIn(`${origin}/`);
    const [name, token] = [...(browser.cookies.get(new URL(origin).hostname) ?? [])][0] ?? [];
    const thief = stage.browser();
    const cookie = `${name}=${token}`;
    const asData = { 'sec-fetch-dest': 'empty' };
    expect((await thief.open(`${origin}/`, { headers: { cookie, ...asData } })).status).toBe(200);
    expect((await thief.open(`${other}/`, { headers: { cookie, ...asData } })).status).toBe(401);
    const planted = `${cookie}; ${name}=${'a'.repeat(43)}`;
    expect((await thief.open(`${origin}/`, { headers: { cookie: planted, ...asData } })).status).toBe(401);
  });
});

test.each([
  ['http://127.0.0.1:1/token', /must be a URL that begins with https/],
  ['https://127.0.0.1/token', /must be at a public address/],
  ['https://169.254.169.254/latest', /must be at a public address/],
  ['https://[::1]/token', /must be at a public address/],
  ['https://user@idp.example/token', /without a user name/],
  ['file:///etc/passwd', /must be a URL/],
])('with POLICY_FETCH=public nothing is sent to %s, also no POST', async (url, reason) => {
  const options = { method: 'POST', headers: {}, body: 'grant_type=refresh_token', redirect: 'manual' } as const;
  await expect(guardedFetch(new ReachableHosts([]))(url, options)).rejects.toThrow(reason);
});

test('a provider that cannot be reached is no reason to let anybody in', async () => {
  const away = await stage.serve({ issuer_url: 'http://127.0.0.1:1' });
  expect(errorOf(await stage.browser().open(`${away}/`))).toBe('ERR_GATEWAY_5202');
});
