// Visitors sign in at OAuth providers by the module `oauth`, and those who are listed come in.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { done, labelled, newEdge, newName, startShowing, type TestEdge } from '../live/edges/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { httpName, openSdkSession } from '../support/agents/sdk.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { Browser } from './browser.ts';
import { type OauthHosts, startOauthHosts } from './oauth-hosts.ts';
import { echoOf, errorOf } from './support.ts';

const API = 'api.github.com';
const APP = { client_id: 'app', client_secret: 'the secret of the app' };

let hosts: OauthHosts;
let gateway: TestGateway;
let sdk: Awaited<ReturnType<typeof openSdkSession>>;
let passed = 0;

beforeAll(async () => {
  hosts = await startOauthHosts(['github.com', API]);
  gateway = await startTestGateway(
    { POLICY_FETCH: 'public' },
    { providerHosts: hosts.standIn, now: () => Date.now() + passed },
  );
  sdk = await openSdkSession(gateway, (await newCredential(gateway)).authtoken);
});
afterAll(async () => {
  await sdk.close();
  await gateway.close();
  await hosts.close();
});

const groups = (path: string, page = 1) => `${API}/user/${path}?per_page=100&page=${page}`;

/** What GitHub says of a visitor. */
const answersFor = (visitor: { email?: string; organizations?: string[]; teams?: [string, string][] }) => ({
  'github.com/login/oauth/access_token': { access_token: 'at', token_type: 'bearer' },
  [`${API}/user`]: { id: 17, login: 'ann', name: 'Ann', email: visitor.email ?? null },
  [groups('orgs')]: (visitor.organizations ?? []).map((login) => ({ login })),
  [groups('teams')]: (visitor.teams ?? []).map(([login, slug]) => ({ slug, organization: { login } })),
});

/** An edge whose route has the module. */
async function served(github: object, more: object = {}): Promise<{ edge: TestEdge; origin: string }> {
  const labels = { app: newName() };
  const edge = await newEdge(gateway, { labels, modules: { oauth: { provider: { github }, ...more } } });
  const listener = await labelled(sdk.session, labels, (await startShowing()).url);
  onTestFinished(() => listener.close());
  return { edge, origin: `https://${edge.name}:${gateway.https.split(':')[1]}` };
}

/** Opens a page, and comes back from GitHub with a code. */
async function comeBack(origin: string, answers: OauthHosts['answers']) {
  hosts.answers = answers;
  const browser = new Browser(gateway.http, { listener: gateway.https, ca: gateway.ca });
  const sent = await browser.open(`${origin}/page`, { follows: false });
  const asked = Object.fromEntries(new URL(sent.headers.location ?? '').searchParams);
  hosts.challenge = asked.code_challenge;
  const page = await browser.open(
    `${asked.redirect_uri}?${new URLSearchParams({ code: 'c', state: asked.state ?? '' })}`,
  );
  return { browser, asked, page };
}

test('a visitor signs in with the app of the module, which asks for its scopes', async () => {
  const { origin, edge } = await served({ ...APP, scopes: ['user:email'] });
  const { page, asked } = await comeBack(origin, answersFor({ email: 'ann@example.com' }));
  expect([page.status, page.url, page.headers.vary]).toEqual([200, `${origin}/page`, 'Cookie']);
  expect(echoOf(page).headers).toMatchObject({
    'gateway-auth-user-email': 'ann@example.com',
    'gateway-auth-user-name': 'Ann',
  });
  expect(asked).toMatchObject({ client_id: 'app', scope: 'read:org read:user user:email' });
  expect(hosts.asked.some(({ place }) => place.startsWith(`${API}/user/orgs`))).toBe(false);
  const shown = await gateway.call('GET', `${edge.host}/oauth`);
  expect(shown.body.provider).toMatchObject({ github: { client_id: 'app', client_secret: null }, google: null });
  const { modules } = await gateway.app.prisma.route.findUniqueOrThrow({ where: { id: edge.hostId } });
  for (const text of [shown.text, JSON.stringify(modules)]) expect(text).not.toContain(APP.client_secret);
});

test.each<[string, object, Parameters<typeof answersFor>[0], number]>([
  ['an address that is listed', { email_addresses: ['ann@example.com'] }, { email: 'Ann@example.com' }, 200],
  ['another address', { email_addresses: ['bob@example.com'] }, { email: 'ann@example.com' }, 403],
  ['a domain that is listed', { email_domains: ['example.com'] }, { email: 'ann@example.com' }, 200],
  ['no address', { email_domains: ['example.com'] }, {}, 403],
  ['an organization that is listed', { organizations: ['Acme'] }, { organizations: ['other', 'acme'] }, 200],
  ['another organization', { organizations: ['acme'] }, { organizations: ['acme-fans'] }, 403],
  ['a team that is listed', { teams: ['acme/developers'] }, { teams: [['acme', 'developers']] }, 200],
  ['a team of that name elsewhere', { teams: ['acme/developers'] }, { teams: [['evil', 'developers']] }, 403],
  [
    'an organization, where only the address is not listed',
    { organizations: ['acme'], email_addresses: ['bob@example.com'] },
    { email: 'ann@example.com', organizations: ['acme'] },
    200,
  ],
])('%s', async (_, listed, visitor, status) => {
  const { origin } = await served({ ...APP, ...listed });
  const { page } = await comeBack(origin, answersFor(visitor));
  expect([page.status, errorOf(page)]).toEqual([status, status === 200 ? undefined : 'ERR_GATEWAY_5511']);
});

test('organizations come in pages', async () => {
  const { origin } = await served({ ...APP, organizations: ['the-last'] });
  const many = Array.from({ length: 100 }, (_, i) => `org-${i}`);
  const answers = { ...answersFor({ organizations: many }), [groups('orgs', 2)]: [{ login: 'the-last' }] };
  expect((await comeBack(origin, answers)).page.status).toBe(200);
});

test('who has left the organization is turned away once the provider is asked again', async () => {
  const { origin } = await served({ ...APP, organizations: ['acme'] }, { auth_check_interval: 60 });
  const { browser } = await comeBack(origin, answersFor({ organizations: ['acme'] }));
  hosts.answers = answersFor({ organizations: [] });
  expect((await browser.open(`${origin}/`)).status).toBe(200);
  passed += 61_000;
  expect(errorOf(await browser.open(`${origin}/`))).toBe('ERR_GATEWAY_5511');
});

test('a tunnel of the SDK has OAuth with an app of its own', async () => {
  const name = newName('oauth');
  const http = httpName(sdk.session, name).oauth('github', ['ann@example.com'], [], ['user:email'], 'app', 'secret');
  const listener = await http.listenAndForward((await startShowing()).url);
  onTestFinished(() => listener.close());
  const origin = `http://${name}:${gateway.http.split(':')[1]}`;
  expect((await comeBack(origin, answersFor({ email: 'ann@example.com' }))).page.status).toBe(200);
  expect((await comeBack(origin, answersFor({ email: 'bob@example.com' }))).page.status).toBe(403);
});

test.each<[string, object, string, RegExp]>([
  ['no app of its own', { provider: { google: {} } }, '90423', /provider\.google\.client_id is required/],
  ['no secret', { provider: { google: { client_id: 'a' } } }, '90425', /provider\.google\.client_secret is required/],
  ['no provider', { provider: {} }, '90424', /exactly one/],
  ['two providers', { provider: { google: APP, github: APP } }, '90424', /exactly one/],
  ['a team without organization', { provider: { github: { ...APP, teams: ['a'] } } }, '90423', /github\.teams\[0\]/],
  ['a time that is too short', { provider: { github: APP }, auth_check_interval: 1 }, '90423', /auth_check_interval/],
])('a module with %s is refused', async (_, settings, number, text) => {
  const edge = await newEdge(gateway, { labels: { app: newName() } });
  const answer = await gateway.call('PUT', `${edge.host}/oauth`, settings);
  expect([answer.status, answer.body.error_code]).toEqual([400, `ERR_GATEWAY_${number}`]);
  expect(answer.body.msg).toMatch(text);
  await done(gateway, 'PUT', `${edge.host}/oauth`, { provider: { github: APP } });
});
