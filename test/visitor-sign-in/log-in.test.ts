// Visitors sign in at an identity provider, and are known to the policy and the service from then on.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { once } from 'node:events';
import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { returnPath } from '../../src/policy/sign-in/requests.ts';
import { FOREIGN_NAMESPACE } from '../../src/tunnel/control/compatibility.ts';
import { callbackPath } from '../../src/visitor-sign-in/callback-address.ts';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { CLIENT } from './provider.ts';
import { echoOf, errorOf, logIn, type Stage, setStage } from './support.ts';

let gateway: TestGateway;
let stage: Stage;

const SESSION = '__Host-gateway_session.visitor';
/** Tells the service who the visitor is. */
const INTRODUCE = {
  actions: [
    {
      type: 'set-headers',
      config: {
        headers: {
          'x-email': '${actions.oidc.identity.email}',
          'x-name': `\${actions.${FOREIGN_NAMESPACE}.oidc.identity.name}`,
          'x-subject': '${actions.oidc.identity.provider_user_id}',
        },
      },
    },
  ],
};

let users = 0;
let served: Promise<string> | undefined;
/** An endpoint for tests that need no settings of their own. */
const shared = () => {
  served ??= stage.serve({}, { after: [INTRODUCE] });
  return served;
};

beforeAll(async () => {
  gateway = await sharedGateway();
  stage = await setStage(gateway);
});
afterAll(() => stage.close());

test('a visitor signs in, comes back to the page that was asked for, and stays signed in', async () => {
  const origin = await stage.serve({}, { after: [INTRODUCE] });
  const { page, browser } = await stage.signIn(`${origin}/orders?open=1`, 'ann');
  expect([page.status, page.url]).toEqual([200, `${origin}/orders?open=1`]);
  expect(echoOf(page).headers).toMatchObject({
    'x-email': 'ann@example.com',
    'x-name': 'Name of ann',
    'x-subject': 'ann',
  });
  const again = await browser.open(`${origin}/other`);
  expect([again.status, again.way]).toEqual([200, []]);
});

describe('what comes to the service', () => {
  test('is no cookie of the gateway, while its own cookies go on', async () => {
    const origin = await stage.serve();
    const { browser } = await stage.signIn(`${origin}/`);
    const host = new URL(origin).hostname;
    expect(browser.cookie(host, SESSION)).toMatch(/^[\w-]{43}$/);
    browser.cookies.get(host)?.set('basket', '7');
    expect(echoOf(await browser.open(`${origin}/`)).headers.cookie?.trim()).toBe('basket=7');
  });
});

describe('who is sent to the provider', () => {
  test.each([
    ['an image', { headers: { 'sec-fetch-dest': 'image' } }],
    ['fetch', { headers: { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' } }],
    ['a frame', { headers: { 'sec-fetch-dest': 'iframe' } }],
    ['a form', { method: 'POST', form: { a: '1' } }],
    ['OPTIONS that is no preflight', { method: 'OPTIONS', headers: { origin: 'https://other.example' } }],
  ])('not %s: it gets 401', async (_, options) => {
    const origin = await shared();
    const page = await stage.browser().open(`${origin}/`, options);
    expect([page.status, errorOf(page)]).toEqual([401, 'ERR_GATEWAY_90400']);
    expect([page.headers['www-authenticate'], page.headers['set-cookie']]).toEqual([
      'Cookie realm="sign-in"',
      undefined,
    ]);
  });

  test('a page, with state, nonce and a challenge, and nothing that a cache may keep', async () => {
    const origin = await shared();
    const { status, headers } = await stage.browser().open(`${origin}/`, { follows: false });
    const { searchParams } = new URL(headers.location ?? '');
    expect([status, headers['cache-control'], headers.vary]).toEqual([303, 'no-store', 'Cookie']);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{
        response_type: 'code',
        client_id: 'shop',
        redirect_uri: gateway.api + callbackPath(gateway.accountId, stage.provider.issuer),
      },
      ...{ scope: 'openid email profile', code_challenge_method: 'S256' },
      ...{ code_challenge: expect.stringMatching(/^[\w-]{43}$/), nonce: expect.stringMatching(/^[\w-]{43}$/) },
    });
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-gateway_session\.login0=[^;]+; Max-Age=900; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
      ),
    ]);
  });

  test('not a preflight where those pass, and it brings no cookies', async () => {
    const origin = await stage.serve({ allow_cors_preflight: true }, { after: [INTRODUCE] });
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'PUT', cookie: 'a=b' };
    const passed = await stage.browser().open(`${origin}/`, { method: 'OPTIONS', headers });
    expect(passed.status).toBe(200);
    expect(echoOf(passed).headers).toMatchObject({ 'x-email': '', 'access-control-request-method': 'PUT' });
    expect(echoOf(passed).headers.cookie).toBeUndefined();
    expect((await stage.browser().open(`${origin}/`, { method: 'OPTIONS' })).status).toBe(401);
    expect((await stage.browser().open(`${await shared()}/`, { method: 'OPTIONS', headers })).status).toBe(401);
  });
});

test('two log-ins of one browser do not disturb each other, and a fifth takes the place of one', async () => {
  const origin = await shared();
  const browser = stage.browser();
  const until = (url: string) => url.startsWith(gateway.api);
  const first = await browser.open(`${origin}/first`);
  const second = await browser.open(`${origin}/second`);
  const after = await logIn(browser, second, 'ann', { until });
  expect((await browser.open(after.headers.location ?? '')).url).toBe(`${origin}/second`);
  expect((await logIn(browser, first, 'ann')).url).toBe(`${origin}/first`);
  const jar = stage.browser();
  for (let i = 0; i < 6; i++) await jar.open(`${origin}/${i}`, { follows: false });
  expect([...(jar.cookies.get(new URL(origin).hostname) ?? [])].length).toBe(4);
});

test('a rule before that sets another host and path does not lead visitors there', async () => {
  const elsewhere = { type: 'url-rewrite', config: { from: '^.*$', to: 'https://evil.example/elsewhere' } };
  const origin = await stage.serve({}, { before: [{ actions: [elsewhere] }] });
  const { page } = await stage.signIn(`${origin}/page`);
  expect([page.url, echoOf(page).url]).toEqual([`${origin}/page`, '/elsewhere']);
});

test('a session over HTTPS is one over HTTP/2, too', async () => {
  const origin = await stage.serveAt(undefined, {}, 'https');
  const { page, browser } = await stage.signIn(`${origin}/page`);
  expect([page.status, page.url]).toEqual([200, `${origin}/page`]);
  const { host, hostname } = new URL(origin);
  const client = connect(`https://${gateway.https}`, { servername: hostname, ca: gateway.ca });
  const statusWith = async (fields: Record<string, string | string[]>) => {
    const stream = client.request({ ':path': '/', ':authority': host, ...fields });
    const [headers] = await once(stream, 'response');
    stream.close();
    return headers[':status'];
  };
  const cookie = ['a=1', ...browser.header(hostname).split('; ')];
  expect([await statusWith({ cookie }), await statusWith({})]).toEqual([200, 401]);
  client.close();
});

describe('logging in and out by a path', () => {
  test('a log-in is forced, goes where it is told, and begins a new session', async () => {
    const origin = await shared();
    const host = new URL(origin).hostname;
    const { browser } = await stage.signIn(`${origin}/`);
    const [before, copy] = [browser.cookie(host, SESSION), browser.copy()];
    const asked = await browser.open(`${origin}/_gateway/login?redirect_path=/basket?a=1`);
    expect(asked.way.find((url) => url.includes('prompt=login'))).toBeDefined();
    expect((await logIn(browser, asked, 'ann')).url).toBe(`${origin}/basket?a=1`);
    expect(browser.cookie(host, SESSION)).not.toBe(before);
    expect((await copy.open(`${origin}/`, { headers: { 'sec-fetch-dest': 'empty' } })).status).toBe(401);
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/%2e%2e//evil.example/',
    '/\t/evil.example',
    'https://evil.example/',
    'evil.example',
    '@evil.example',
    '/_gateway/logout',
    `/${'a'.repeat(2000)}`,
  ])('%j is no path to come back to', (path) => {
    expect(returnPath(path)).toBe('/');
  });

  test.each(['/', '/a?b=c&d=/e', '/a//b', '/@me', '/a?next=https://other.example/'])('%j is one', (path) => {
    expect(returnPath(path)).toBe(path);
  });

  test('a log-out ends the session, and tells where the provider signs out', async () => {
    const origin = await shared();
    const { browser } = await stage.signIn(`${origin}/`);
    const copy = browser.copy();
    const page = await browser.open(`${origin}/${FOREIGN_NAMESPACE}/logout?auth_id=`);
    expect([page.status, page.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(page.body).toContain(`${stage.provider.issuer}/session/end`);
    expect(browser.cookie(new URL(origin).hostname, SESSION)).toBeUndefined();
    expect((await copy.open(`${origin}/`, { headers: { 'sec-fetch-dest': 'empty' } })).status).toBe(401);
  });

  describe.each(['login', 'logout'])('another site cannot do it: %s', (path) => {
    test.each(['cross-site', 'same-site', 'unheard-of'])('where the browser says that it is %s', async (site) => {
      const origin = await shared();
      const { browser } = await stage.signIn(`${origin}/`);
      for (const method of ['GET', 'POST']) {
        const options = { method, headers: { 'sec-fetch-site': site }, form: {} };
        const page = await browser.open(`${origin}/_gateway/${path}`, options);
        expect([page.status, errorOf(page)]).toEqual([403, 'ERR_GATEWAY_90401']);
      }
      expect((await browser.open(`${origin}/`)).way).toEqual([]);
    });

    test('where the browser does not say: the visitor is asked, by a form that only this session can send', async () => {
      const origin = await shared();
      const [{ browser }, { browser: other }] = [
        await stage.signIn(`${origin}/`),
        await stage.signIn(`${origin}/`, 'bob'),
      ];
      const old = { headers: { 'sec-fetch-site': undefined } };
      const url = `${origin}/_gateway/${path}?redirect_path=/basket`;
      const [asked, theirs] = [await browser.open(url, old), await other.open(url, old)];
      expect([asked.status, asked.headers['x-frame-options'], asked.headers['cache-control']]).toEqual([
        ...[200, 'DENY', 'no-store'],
      ]);
      const confirmation = /name="confirmation" value="([^"]*)"/.exec(theirs.body)?.[1] ?? '';
      const forms: Record<string, string>[] = [{}, { confirmation: '' }, { confirmation }];
      for (const form of forms) {
        const page = await browser.open(url, { ...old, method: 'POST', form });
        expect([page.status, errorOf(page)]).toEqual([403, 'ERR_GATEWAY_90401']);
      }
      expect((await browser.open(`${origin}/`)).way).toEqual([]);
      const meant = await browser.submit(asked, {}, { ...old, follows: false });
      if (path === 'login') expect(meant.headers.location).toContain('prompt=login');
      else expect([meant.status, meant.body]).toEqual([200, expect.stringContaining('You are signed out')]);
    });
  });

  test('the paths work whatever the conditions of the rule are, and are those of the service without the action', async () => {
    const origin = await stage.serve({}, { rule: { expressions: ["req.url.path.startsWith('/staff')"] } });
    expect((await stage.browser().open(`${origin}/`)).status).toBe(200);
    expect((await stage.signIn(`${origin}/staff`)).page.url).toBe(`${origin}/staff`);
    const plain = await stage.servePolicy({ on_http_request: [] });
    expect(echoOf(await stage.browser().open(`${plain}/_gateway/login`)).url).toBe('/_gateway/login');
  });
});

test.each([
  ['that is not verified', { email_verified: false }],
  ['that does not say whether it is verified', { email_verified: undefined }],
  ['that two readers read differently', { email: 'ann@example.com@other.example' }],
  ['that are several', { email: 'ann@other.example,ann@example.com' }],
])('an e-mail address %s is not told to rules', async (_, claims) => {
  const origin = await shared();
  const login = `user-${users++}`;
  stage.provider.users.set(login, claims);
  const { page } = await stage.signIn(`${origin}/`, login);
  expect(echoOf(page).headers).toMatchObject({ 'x-email': '', 'x-subject': login });
});

describe('a policy is refused', () => {
  test.each([
    [{ auth_cookie_domain: 'tunnel.localhost' }, 2241, /the gateway's own domain/],
    [{ auth_cookie_domain: 'co.uk' }, 2241, /a suffix below which others have names/],
    [{ auth_cookie_domain: 'github.io' }, 2241, /a suffix below which others have names/],
    [{ auth_cookie_domain: 'localhost' }, 2241, /must be a domain/],
    [{ issuer_url: 'ftp://id.example.com' }, 2226, /must be a URL that begins with https/],
    [{ issuer_url: '${req.host}' }, 2226, /must not be computed/],
    [{ authz_url_params: { state: 'a' } }, 2219, /what the gateway says itself/],
    [{ scopes: ['email profile'] }, 2204, /must be one scope/],
    [{ auth_id: 'a b' }, 2204, /letters, digits/],
    [{ idle_session_duration: '1s' }, 2225, /1m/],
  ])('with %j', async (settings, number, reason) => {
    await expect(stage.serve(settings)).rejects.toThrow(reason);
    await expect(stage.serve(settings)).rejects.toThrow(`ERR_GATEWAY_${number}`);
  });

  test('with two actions that sign in', async () => {
    const again = { actions: [{ type: 'oidc', config: { issuer_url: stage.provider.issuer, ...CLIENT } }] };
    await expect(stage.serve({}, { after: [again] })).rejects.toThrow(/ERR_GATEWAY_2239/);
  });
});
