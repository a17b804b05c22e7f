// Visitors sign in by the modules `oidc` and `oauth` of routes.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { done, labelled, newEdge, newName, newRoute, startShowing, type TestEdge } from '../live/edges/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { sdkSession } from '../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import type { Browser } from './browser.ts';
import { CLIENT } from './provider.ts';
import { echoOf, errorOf, type Stage, setStage } from './support.ts';

let gateway: TestGateway;
let account: Account;
let authtoken: string;
let stage: Stage;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  ({ authtoken } = await newCredential(account));
  stage = await setStage(gateway, { accounts: [account] });
});
afterAll(() => stage.close());

const oidc = (more: object = {}) => ({
  issuer: stage.provider.issuer,
  ...CLIENT,
  scopes: ['email', 'profile'],
  ...more,
});

/** A policy by which visitors sign in, too. */
function signingPolicy(): string {
  const action = {
    type: 'openid-connect',
    config: { issuer_url: stage.provider.issuer, ...CLIENT, scopes: ['email'] },
  };
  const introduce = {
    type: 'set-headers',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: templates of policies look like that
    config: { headers: { 'x-email': '${actions.oidc.identity.email}' } },
  };
  return JSON.stringify({ on_http_request: [{ actions: [action, introduce] }] });
}

/** An edge with a service behind it, whose route for everything has these modules. */
async function served(modules: object): Promise<{ edge: TestEdge; origin: string; labels: { app: string } }> {
  const labels = { app: newName() };
  const edge = await newEdge(account, { labels, modules });
  await labelled(await sdkSession(gateway, authtoken), labels, (await startShowing()).url);
  return { edge, labels, origin: `https://${edge.name}:${gateway.https.split(':')[1]}` };
}

const statusOf = async (browser: Browser, url: string) =>
  (await browser.open(url, { headers: { 'sec-fetch-dest': 'empty' } })).status;

test('a visitor signs in, comes back to the page, is introduced to the service, and signs out', async () => {
  const { origin, edge } = await served({ oidc: oidc() });
  const browser = stage.browser();
  expect(await statusOf(browser, `${origin}/`)).toBe(401);
  const { page } = await stage.signIn(`${origin}/orders?open=1`, 'ann', browser);
  expect([page.status, page.url]).toEqual([200, `${origin}/orders?open=1`]);
  expect(echoOf(page).headers).toMatchObject({
    'gateway-auth-user-id': expect.stringMatching(/^appu_/),
    'gateway-auth-user-email': 'ann@example.com',
    'gateway-auth-user-name': 'Name of ann',
  });
  expect(echoOf(page).headers).not.toHaveProperty('cookie');
  expect(browser.header(edge.name)).toMatch(/^__Host-gateway_session\.visitor\.module\.[0-9a-f]{12}=[\w-]{43}$/);

  const forged = {
    'gateway-auth-user-email': 'boss@example.com',
    gateway_auth_user_name: 'Boss',
    'sec-fetch-dest': 'empty',
  };
  const again = echoOf(await browser.open(`${origin}/`, { headers: forged })).headers;
  expect([again['gateway-auth-user-email'], again.gateway_auth_user_name]).toEqual(['ann@example.com', undefined]);

  const copy = browser.copy();
  expect((await browser.open(`${origin}/_gateway/logout`)).body).toContain(`${stage.provider.issuer}/session/end`);
  expect(await statusOf(copy, `${origin}/`)).toBe(401);
  expect((await browser.open(`${origin}/_gateway/logout`)).body).toContain('You are signed out');
});

test('a session ends when the module is for another client, and visitors come in when it is off', async () => {
  const { origin, edge } = await served({ oidc: oidc() });
  const { browser } = await stage.signIn(`${origin}/`);
  expect(await statusOf(browser, `${origin}/`)).toBe(200);
  await done(account, 'PUT', `${edge.host}/oidc`, oidc({ client_id: 'another' }));
  expect(await statusOf(browser, `${origin}/`)).toBe(401);
  await done(account, 'PUT', `${edge.host}/oidc`, oidc({ enabled: false }));
  expect(await statusOf(stage.browser(), `${origin}/`)).toBe(200);
});

test('the times, the name of the cookie and preflights are as the module says', async () => {
  const settings = oidc({
    maximum_duration: 120,
    inactivity_timeout: 60,
    cookie_prefix: 'shop.',
    options_passthrough: true,
  });
  const { origin } = await served({ oidc: settings });
  const { page } = await stage.signIn(`${origin}/`);
  const finished = await (async () => {
    const browser = stage.browser();
    const back = await stage.reach(browser, `${origin}/`, (url) => url.includes('/_gateway/oauth2/finish'));
    return browser.open(back.headers.location ?? '', { follows: false });
  })();
  expect(page.status).toBe(200);
  expect(finished.headers['set-cookie']?.[0]).toMatch(
    /^__Host-gateway_session\.visitor\.shop\.[0-9a-f]{12}=[\w-]{43}; Max-Age=120; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
  );
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'PUT' };
  expect((await stage.browser().open(`${origin}/`, { method: 'OPTIONS', headers })).status).toBe(200);
  expect((await stage.browser().open(`${origin}/`, { method: 'OPTIONS' })).status).toBe(401);
});

describe('routes for a part of the paths', () => {
  test.each<[string, () => object]>([
    ['a module', () => ({ oidc: oidc() })],
    ['a policy', () => ({ traffic_policy: { value: signingPolicy() } })],
  ])('let visitors sign in by %s, although the paths of log-ins are at the root of the host', async (_, modules) => {
    const { edge, origin, labels } = await served({ response_headers: { add: { 'x-open': '1' } } });
    const { id: backend_id } = await done(account, 'POST', '/backends/tunnel_group', { labels });
    await newRoute(account, edge, { match: '/staff', backend: { backend_id }, ...modules() });
    expect((await stage.browser().open(`${origin}/`)).headers['x-open']).toBe('1');
    const { page, browser } = await stage.signIn(`${origin}/staff/list`);
    expect([page.status, page.url]).toEqual([200, `${origin}/staff/list`]);
    expect((await browser.open(`${origin}/_gateway/logout`)).status).toBe(200);
    expect(await statusOf(browser, `${origin}/staff`)).toBe(401);
  });

  test('with several clients have a session each, and a log-in is that of the page that is asked for', async () => {
    const { edge, origin, labels } = await served({ oidc: oidc() });
    const { id: backend_id } = await done(account, 'POST', '/backends/tunnel_group', { labels });
    const nobody = { issuer: stage.provider.issuer, client_id: 'nobody', client_secret: 'x' };
    await newRoute(account, edge, { match: '/other', backend: { backend_id }, oidc: nobody });
    const browser = stage.browser();
    const asked = await browser.open(`${origin}/other`, { follows: false });
    expect(new URL(asked.headers.location ?? '').searchParams.get('client_id')).toBe('nobody');
    const { page } = await stage.signIn(`${origin}/`, 'ann', browser);
    expect(page.url).toBe(`${origin}/`);
    expect([await statusOf(browser, `${origin}/`), await statusOf(browser, `${origin}/other`)]).toEqual([200, 401]);
    for (const [path, client] of [
      ['/other/page', 'nobody'],
      ['/page', CLIENT.client_id],
    ]) {
      const forced = await browser.open(`${origin}/_gateway/login?redirect_path=${path}`, { follows: false });
      expect(new URL(forced.headers.location ?? '').searchParams.get('client_id')).toBe(client);
    }
    expect((await browser.open(`${origin}/_gateway/logout`)).status).toBe(200);
    expect(await statusOf(browser, `${origin}/`)).toBe(401);
    expect(errorOf(await browser.open(`${origin}/_gateway/oauth2/finish?answer=x`))).toBe('ERR_GATEWAY_5200');
    expect(errorOf(await stage.browser().open(`${origin}/_gateway/oauth2/finish?answer=x`))).toBe('ERR_GATEWAY_5200');
  });
});

test('a policy that signs in on the same route has a session of its own: both must be there', async () => {
  const { origin, edge } = await served({ oidc: oidc(), traffic_policy: { value: signingPolicy() } });
  const { page, browser } = await stage.signIn(`${origin}/page`);
  const last = /<form/.test(page.body) ? await browser.submit(page, {}) : page;
  expect([last.status, last.url]).toEqual([200, `${origin}/page`]);
  expect(echoOf(last).headers).toMatchObject({
    'x-email': 'ann@example.com',
    'gateway-auth-user-email': 'ann@example.com',
  });
  expect([...(browser.cookies.get(edge.name) ?? [])].map(([name]) => name).sort()).toEqual([
    '__Host-gateway_session.visitor',
    expect.stringMatching(/^__Host-gateway_session\.visitor\.module\./),
  ]);
  browser.cookies.get(edge.name)?.delete('__Host-gateway_session.visitor');
  expect(await statusOf(browser, `${origin}/`)).toBe(401);
});

test('who has signed in is told to the endpoint that a policy forwards to, and nothing that the visitor says of it', async () => {
  const domain = `${newName().split('.')[0]}.internal`;
  const session = await sdkSession(gateway, authtoken);
  await session
    .httpEndpoint()
    .domain(domain)
    .listenAndForward((await startShowing()).url);
  const forward = { actions: [{ type: 'forward-internal', config: { url: `https://${domain}` } }] };
  const value = JSON.stringify({ on_http_request: [forward] });
  const { origin } = await served({ oidc: oidc(), traffic_policy: { value } });
  const { browser } = await stage.signIn(`${origin}/`);
  const page = await browser.open(`${origin}/`, {
    headers: {
      'gateway-auth-user-email': 'root@example.com',
      'gateway-auth-user-role': 'root',
      gateway_auth_user_id: 'root',
    },
  });
  const { headers } = echoOf(page);
  expect(headers).toMatchObject({ 'gateway-auth-user-email': 'ann@example.com' });
  for (const name of ['gateway-auth-user-role', 'gateway_auth_user_id']) expect(headers).not.toHaveProperty([name]);
});

describe('the secret of the client', () => {
  test('is sealed in the database, and shown at neither door', async () => {
    const { edge } = await served({ oidc: oidc() });
    const { modules } = await gateway.app.prisma.route.findUniqueOrThrow({ where: { id: edge.hostId } });
    expect(JSON.stringify(modules)).toContain(CLIENT.client_id);
    expect(JSON.stringify(modules)).not.toContain(CLIENT.client_secret);
    const shown = [
      await account.call('GET', edge.host),
      await account.call('GET', `${edge.host}/oidc`),
      await account.call('PUT', `${edge.host}/oidc`, oidc()),
    ];
    for (const { text } of shown) expect(text).not.toContain(CLIENT.client_secret);
    expect(shown[1]?.body).toMatchObject({ client_id: CLIENT.client_id, client_secret: null });
    const query = `{ httpsEdgeRouteOidc(edgeId: "${edge.id}", id: "${edge.hostId}") { clientId clientSecret } }`;
    expect((await account.graphql(query)).body.data).toEqual({
      httpsEdgeRouteOidc: { clientId: CLIENT.client_id, clientSecret: null },
    });
  });

  test('stays when it is left out, for the same client of the same provider alone', async () => {
    const { edge, origin } = await served({ oidc: oidc() });
    const { client_secret: _, ...without } = oidc({ cookie_prefix: 'kept' });
    await done(account, 'PUT', `${edge.host}/oidc`, without);
    expect((await stage.signIn(`${origin}/`)).page.status).toBe(200);
    for (const other of [{ issuer: 'https://evil.example' }, { client_id: 'another' }])
      expect(await account.call('PUT', `${edge.host}/oidc`, { ...without, ...other })).toMatchObject({
        status: 400,
        body: { error_code: 'ERR_GATEWAY_90425' },
      });
  });
});
