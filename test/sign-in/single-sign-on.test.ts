// Operators sign in to the dashboard with npm's `oidc-provider`.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { Browser as ProviderBrowser } from '../visitor-sign-in/browser.ts';
import { CLIENT, startProvider, type TestProvider } from '../visitor-sign-in/provider.ts';
import { logIn } from '../visitor-sign-in/support.ts';
import { type Browser, newBrowser, PASSWORD, signedIn, startWithDashboard } from './browser.ts';

const API = 'http://127.0.0.1:4000';
const CALLBACK = `${API}/dashboard/sign-in`;
const BREAK_GLASS = 'keeper@example.com';

let provider: TestProvider;
beforeAll(async () => {
  provider = await startProvider({ callback: CALLBACK });
});
afterAll(() => provider?.close());

async function start(env: Record<string, string> = {}): Promise<TestGateway> {
  const { client_id: SSO_CLIENT_ID, client_secret: SSO_CLIENT_SECRET } = CLIENT;
  const sso = { SSO_ISSUER: provider.issuer, SSO_CLIENT_ID, SSO_CLIENT_SECRET, PUBLIC_API_URL: API };
  return startWithDashboard({ ...sso, ...env });
}

/** Goes to the provider and comes back. @returns what the page of the dashboard has then. */
async function goTo(browser: Browser, login: string): Promise<{ attempt: string; query: string }> {
  const { body } = await browser.ask('beginSso');
  const { url, attempt } = body.data.beginSingleSignOn.attempt;
  const pages = new ProviderBrowser('', { listener: '', ca: '' });
  const until = (to: string) => to.startsWith(CALLBACK);
  const { headers } = await logIn(pages, await pages.open(url), login, { until });
  return { attempt, query: new URL(headers.location ?? '').search.slice(1) };
}

/** Signs in. @returns the answer. */
async function signIn(browser: Browser, login: string) {
  return browser.ask('completeSso', { input: await goTo(browser, login) });
}

const errorOf = (answer: { body: { errors?: { extensions: { errorCode: string } }[] } }) =>
  answer.body.errors?.[0]?.extensions.errorCode;

describe('with groups', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start({
      ...{ SSO_NAME: 'Example ID', SSO_ADMIN_GROUPS: 'ops', SSO_MEMBER_GROUPS: 'support' },
      SSO_PASSWORD_USER: BREAK_GLASS,
    });
  });
  afterAll(() => gateway?.close());
  const as = (login: string, groups: string[], more: object = {}) =>
    provider.users.set(login, { groups, email: `${login}@example.com`, email_verified: true, ...more });

  test('the sign-in page offers the provider by its name', async () => {
    const { body } = await newBrowser(gateway.api).ask('offer');
    expect(body.data.signInOffer).toMatchObject({ singleSignOn: 'Example ID', isPasswordForAll: false });
  });

  test('a user is created at the first sign-in, with the role of the groups, and known at the next', async () => {
    as('ada', ['ops', 'others']);
    const browser = newBrowser(gateway.api);
    const first = await signIn(browser, 'ada');
    expect(first.body.data.completeSingleSignOn.viewer).toMatchObject({ isAdmin: true, hasPassword: false });
    expect((await browser.ask('viewer')).body.data.viewer.user.id).toBe(
      first.body.data.completeSingleSignOn.viewer.user.id,
    );
    // The address has changed at the provider: the user is known by the subject.
    as('ada', ['ops'], { email: 'lovelace@example.com' });
    const again = await signIn(newBrowser(gateway.api), 'ada');
    expect(again.body.data.completeSingleSignOn.viewer.user.id).toBe(
      first.body.data.completeSingleSignOn.viewer.user.id,
    );
    const { body } = await gateway.graphql('{ auditEntries(first: 20) { nodes { action kind objectName } } }');
    const actions = body.data.auditEntries.nodes.map(
      ({ action, objectName }: { action: string; objectName: string }) => [action, objectName],
    );
    expect(actions).toContainEqual(['CREATED', 'ada@example.com']);
    expect(actions).toContainEqual(['SIGNED_IN', 'ada@example.com']);
  });

  test('the role follows the groups, and one who is in none of them is refused', async () => {
    as('bob', ['ops']);
    expect((await signIn(newBrowser(gateway.api), 'bob')).body.data.completeSingleSignOn.viewer.isAdmin).toBe(true);
    as('bob', ['support']);
    expect((await signIn(newBrowser(gateway.api), 'bob')).body.data.completeSingleSignOn.viewer.isAdmin).toBe(false);
    as('bob', ['others']);
    expect(errorOf(await signIn(newBrowser(gateway.api), 'bob'))).toBe('ERR_GATEWAY_90221');
  });

  test('an address that the provider has not verified makes no user', async () => {
    as('eve', ['ops'], { email_verified: false });
    expect(errorOf(await signIn(newBrowser(gateway.api), 'eve'))).toBe('ERR_GATEWAY_90220');
  });

  test('another identity with the address of a user does not become that user', async () => {
    as('carol', ['support']);
    await signIn(newBrowser(gateway.api), 'carol');
    as('mallory', ['ops'], { email: 'carol@example.com' });
    expect(errorOf(await signIn(newBrowser(gateway.api), 'mallory'))).toBe('ERR_GATEWAY_90223');
  });

  test('an admin of another account becomes nobody, and gets no operator, by adding the address first', async () => {
    const other = await gateway.newAccount();
    const add = 'mutation ($email: String!) { createUser(input: { email: $email }) { user { id } } }';
    // Also one who was led there before the gateway knew better.
    for (const [login, link] of [
      ['first', {}],
      ['second', { ssoIssuer: provider.issuer, ssoSubject: 'second' }],
    ] as const) {
      const { body } = await other.graphql(add, { email: `${login}@example.com` });
      const taken = body.data.createUser.user.id;
      await gateway.app.prisma.owner.update({ where: { id: taken }, data: link });
      as(login, ['ops']);
      const { id } = (await signIn(newBrowser(gateway.api), login)).body.data.completeSingleSignOn.viewer.user;
      expect(id).not.toBe(taken);
      expect(await gateway.app.prisma.owner.findUniqueOrThrow({ where: { id } })).toMatchObject({
        accountId: gateway.accountId,
        ssoSubject: login,
      });
    }
  });

  test('a user who was deactivated stays out', async () => {
    as('dan', ['support']);
    const { id } = (await signIn(newBrowser(gateway.api), 'dan')).body.data.completeSingleSignOn.viewer.user;
    await gateway.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id });
    expect(errorOf(await signIn(newBrowser(gateway.api), 'dan'))).toBe('ERR_GATEWAY_90224');
  });

  test('passwords are for the one user who keeps one', async () => {
    const { body } = await gateway.graphql(
      'mutation { a: createUser(input: { email: "keeper@example.com", role: ADMIN }) { user { id } } b: createUser(input: { email: "other@example.com" }) { user { id } } }',
    );
    const link = (userId: string) =>
      gateway.graphql('mutation ($userId: ID!) { createSignInLink(userId: $userId) { signInLink { url } } }', {
        userId,
      });
    expect(errorOf(await link(body.data.b.user.id))).toBe('ERR_GATEWAY_90225');
    const { url } = (await link(body.data.a.user.id)).body.data.createSignInLink.signInLink;
    await newBrowser(gateway.api).redeem(url.slice(url.indexOf('#') + 1));
    const signedIn = await newBrowser(gateway.api).signIn(BREAK_GLASS, PASSWORD);
    expect(signedIn.body.data.signIn.viewer).toMatchObject({ hasPassword: true });
    expect(errorOf(await newBrowser(gateway.api).signIn('other@example.com', PASSWORD))).toBe('ERR_GATEWAY_90225');
  });

  test.each<[string, (good: { attempt: string; query: string }) => Promise<object> | object, string]>([
    ['of another attempt', async (good) => ({ ...good, attempt: (await begun()).attempt }), '90218'],
    [
      'with another state',
      ({ attempt, query }) => ({ attempt, query: query.replace(/state=[^&]+/, 'state=x') }),
      '90218',
    ],
    ['without an attempt', ({ query }) => ({ attempt: '', query }), '90219'],
    [
      'that is a refusal',
      ({ attempt, query }) => ({
        attempt,
        query: `error=access_denied&iss=${encodeURIComponent(provider.issuer)}&${stateOf(query)}`,
      }),
      '90217',
    ],
  ])('an answer %s is refused', async (_, change, number) => {
    as('frank', ['support']);
    const browser = newBrowser(gateway.api);
    const input = await change(await goTo(browser, 'frank'));
    expect(errorOf(await browser.ask('completeSso', { input }))).toBe(`ERR_GATEWAY_${number}`);
    expect(browser.cookie).toBeUndefined();
  });
  const begun = async () => (await newBrowser(gateway.api).ask('beginSso')).body.data.beginSingleSignOn.attempt;
  const stateOf = (query: string) => /state=[^&]+/.exec(query)?.[0] ?? '';

  test('an answer works once', async () => {
    as('grace', ['support']);
    const browser = newBrowser(gateway.api);
    const input = await goTo(browser, 'grace');
    expect((await browser.ask('completeSso', { input })).body.errors).toBeUndefined();
    expect(errorOf(await newBrowser(gateway.api).ask('completeSso', { input }))).toBe('ERR_GATEWAY_90218');
  });

  test('a page of another origin can neither begin nor complete one', async () => {
    const browser = newBrowser(gateway.api);
    browser.headers = { 'sec-fetch-site': 'cross-site' };
    expect(errorOf(await browser.ask('beginSso'))).toBe('ERR_GATEWAY_90201');
    expect(errorOf(await browser.ask('completeSso', { input: { attempt: '', query: '' } }))).toBe('ERR_GATEWAY_90201');
  });
});

describe('without groups', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway?.close());

  test('users who exist sign in with their role, and nobody else', async () => {
    provider.users.set('ivan', { email: 'Ivan@Example.com', email_verified: true });
    expect(errorOf(await signIn(newBrowser(gateway.api), 'ivan'))).toBe('ERR_GATEWAY_90222');
    await gateway.graphql('mutation { createUser(input: { email: "ivan@example.com" }) { user { id } } }');
    const { body } = await signIn(newBrowser(gateway.api), 'ivan');
    expect(body.data.completeSingleSignOn.viewer).toMatchObject({ isAdmin: false });
  });

  test('when the provider is away, that is said, and passwords work', async () => {
    const browser = newBrowser(gateway.api);
    const { url, attempt } = (await browser.ask('beginSso')).body.data.beginSingleSignOn.attempt;
    const state = new URL(url).searchParams.get('state') ?? '';
    const query = `${new URLSearchParams({ code: 'any', state, iss: provider.issuer })}`;
    provider.intercept = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    try {
      expect(errorOf(await browser.ask('completeSso', { input: { attempt, query } }))).toMatch(/_9021[68]$/);
    } finally {
      provider.intercept = undefined;
    }
    await signedIn(gateway, gateway.key, gateway.ownerId);
  });
});

test('SSO_ACCOUNT says whose users they are; while there is no such account, nobody signs in', async () => {
  const gateway = await start({ SSO_ACCOUNT: 'ac_chosen', SSO_ADMIN_GROUPS: 'ops' });
  onTestFinished(() => gateway.close());
  provider.users.set('judy', { groups: ['ops'], email: 'judy@example.com', email_verified: true });
  expect(errorOf(await signIn(newBrowser(gateway.api), 'judy'))).toBe('ERR_GATEWAY_90365');
  await gateway.app.prisma.account.create({ data: { id: 'ac_chosen' } });
  const { id } = (await signIn(newBrowser(gateway.api), 'judy')).body.data.completeSingleSignOn.viewer.user;
  expect(await gateway.app.prisma.owner.findUniqueOrThrow({ where: { id } })).toMatchObject({ accountId: 'ac_chosen' });
});
