// Tunnels whose agent asks that visitors sign in, by the options of the SDK of the field.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newName, startShowing } from '../live/edges/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { httpName, openSdkSession, SDK_PREFIX, type SdkSession } from '../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { CLIENT } from './provider.ts';
import { echoOf, errorOf, type Stage, setStage } from './support.ts';

type Http = ReturnType<SdkSession['httpEndpoint']>;

let gateway: TestGateway;
let account: Account;
let stage: Stage;
let sdk: Awaited<ReturnType<typeof openSdkSession>>;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  stage = await setStage(gateway, { accounts: [account] });
  sdk = await openSdkSession(gateway, (await newCredential(account)).authtoken);
});
afterAll(async () => {
  await sdk.close();
  await stage.close();
});

/** Opens a tunnel with an option. @returns its origin. */
async function opened(option: (http: Http) => Http): Promise<string> {
  const name = newName('signing');
  const listener = await option(httpName(sdk.session, name)).listenAndForward((await startShowing()).url);
  onTestFinished(() => listener.close());
  return `http://${name}:${gateway.http.split(':')[1]}`;
}

const withOidc =
  (emails?: string[], domains?: string[]) =>
  (http: Http): Http =>
    http.oidc(stage.provider.issuer, CLIENT.client_id, CLIENT.client_secret, emails, domains, ['email', 'profile']);

test('OIDC lets in whoever has signed in', async () => {
  const origin = await opened(withOidc());
  const { page, browser } = await stage.signIn(`${origin}/page?a=1`, 'ann');
  expect([page.status, page.url]).toEqual([200, `${origin}/page?a=1`]);
  expect(echoOf(page).headers['gateway-auth-user-email']).toBe('ann@example.com');
  expect((await browser.open(`${origin}/other`)).way).toEqual([]);
});

describe('of visitors who have signed in, OIDC turns away with 403', () => {
  test('whose address is not allowed, and lets in those of an address or a domain that is', async () => {
    stage.provider.users.set('guest', { email: 'Guest@Partner.example' });
    stage.provider.users.set('below', { email: 'guest@sub.partner.example' });
    const origin = await opened(withOidc(['ANN@example.com'], ['partner.example']));
    for (const login of ['ann', 'guest']) expect((await stage.signIn(`${origin}/`, login)).page.status).toBe(200);
    for (const login of ['bob', 'below']) {
      const { page, browser } = await stage.signIn(`${origin}/`, login);
      expect([page.status, errorOf(page)]).toEqual([403, 'ERR_GATEWAY_5511']);
      expect(page.body).toContain('/_gateway/login');
      const data = await browser.open(`${origin}/`, { headers: { 'sec-fetch-dest': 'empty' } });
      expect([data.status, errorOf(data)]).toEqual([403, 'ERR_GATEWAY_5511']);
    }
  });

  test('whose address is not verified', async () => {
    stage.provider.users.set('liar', { email: 'ann@example.com', email_verified: false });
    const origin = await opened(withOidc(['ann@example.com']));
    expect(errorOf((await stage.signIn(`${origin}/`, 'liar')).page)).toBe('ERR_GATEWAY_5511');
  });
});

describe('an option that cannot be acted on is refused, and opens nothing:', () => {
  test.each<[string, (http: Http) => Http, number, RegExp]>([
    ['OAuth without an app', (http) => http.oauth('google'), 90215, /client_id is required.*register one/],
    ['OAuth of an unknown provider', (http) => http.oauth('nobody'), 90215, /provider must be one of.*github/],
    [
      'OAuth without a secret',
      (http) => http.oauth('google', [], [], [], 'an id', ''),
      90215,
      /client_secret is required/,
    ],
    ['an issuer that is no URL', (http) => http.oidc('nobody', 'id', 'secret'), 90215, /issuer of OIDC must be a URL/],
    ['no issuer', (http) => http.oidc('', 'id', 'secret'), 90215, /issuer_url must be 1 to 255 bytes/],
    ['no client', (http) => http.oidc('https://id.example.com', '', 'secret'), 90215, /client_id must be/],
    [
      'an address that is none',
      (http) => http.oidc('https://id.example.com', 'id', 'secret', ['ann']),
      90215,
      /allow_emails\[0\] must be an e-mail address/,
    ],
    [
      'a domain that is none',
      (http) => http.oidc('https://id.example.com', 'id', 'secret', [], ['@example.com']),
      90215,
      /allow_domains\[0\] must be a domain/,
    ],
  ])('%s', async (_, option, code, text) => {
    const name = newName('signing');
    const failed = await option(httpName(sdk.session, name))
      .listen()
      .catch((error) => error);
    expect(failed.errorCode).toBe(`${SDK_PREFIX}${code}`);
    expect(failed.message).toMatch(text);
    expect((await visit(`http://${name}/`, gateway.http)).status).toBe(404);
  });
});
