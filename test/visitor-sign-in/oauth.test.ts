// Signing in at the large OAuth providers, as far as that can be seen without them: the requests that their documentation asks for,
// and what is read of the answers that it describes.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manual } from '../documents/policy-manual.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type OauthHosts, startOauthHosts } from './oauth-hosts.ts';
import { echoOf, errorOf, type Stage, setStage } from './support.ts';

const USER_INFO = { sub: '17', name: 'Ann', email: 'ann@example.com', email_verified: true };

interface Documented {
  provider: string;
  /** Where visitors are sent, and the scopes that are asked for. */
  page: string;
  scope: string;
  token: string;
  /** Further members of the token's answer. */
  more?: object;
  /** What the API answers. */
  api: Record<string, unknown>;
  email?: string;
  name?: string;
  hasPkce?: boolean;
}

const documented: Documented[] = [
  {
    provider: 'amazon',
    page: 'https://www.amazon.com/ap/oa',
    scope: 'profile',
    token: 'api.amazon.com/auth/o2/token',
    api: { 'api.amazon.com/user/profile': { user_id: '17', name: 'Ann', email: 'ann@example.com' } },
  },
  {
    provider: 'facebook',
    page: 'https://www.facebook.com/v23.0/dialog/oauth',
    scope: 'email public_profile',
    token: 'graph.facebook.com/v23.0/oauth/access_token',
    api: { 'graph.facebook.com/v23.0/me?fields=id,name,email': { id: '17', name: 'Ann', email: 'ann@example.com' } },
  },
  {
    provider: 'github',
    page: 'https://github.com/login/oauth/authorize',
    scope: 'read:org read:user',
    token: 'github.com/login/oauth/access_token',
    more: { scope: 'read:org,read:user', token_type: 'bearer' },
    api: { 'api.github.com/user': { id: 17, login: 'ann', name: 'Ann', email: 'ann@example.com' } },
  },
  {
    provider: 'gitlab',
    page: 'https://gitlab.com/oauth/authorize',
    scope: 'email openid profile',
    token: 'gitlab.com/oauth/token',
    more: { id_token: 'not.looked.at', created_at: 1 },
    api: { 'gitlab.com/oauth/userinfo': USER_INFO },
  },
  {
    provider: 'google',
    page: 'https://accounts.google.com/o/oauth2/v2/auth',
    scope: 'https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/userinfo.profile',
    token: 'oauth2.googleapis.com/token',
    api: { 'openidconnect.googleapis.com/v1/userinfo': USER_INFO },
  },
  {
    provider: 'linkedin',
    page: 'https://www.linkedin.com/oauth/v2/authorization',
    scope: 'email openid profile',
    token: 'www.linkedin.com/oauth/v2/accessToken',
    api: { 'api.linkedin.com/v2/userinfo': USER_INFO },
    hasPkce: false,
  },
  {
    provider: 'microsoft',
    page: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    scope: 'User.Read',
    token: 'login.microsoftonline.com/common/oauth2/v2.0/token',
    api: {
      'graph.microsoft.com/v1.0/me': {
        ...{ id: '17', displayName: 'Ann', mail: 'boss@other.example', userPrincipalName: 'ann@example.com' },
      },
    },
  },
  {
    provider: 'twitch',
    page: 'https://id.twitch.tv/oauth2/authorize',
    scope: 'user:read:email',
    token: 'id.twitch.tv/oauth2/token',
    more: { scope: ['user:read:email'] },
    api: { 'api.twitch.tv/helix/users': { data: [{ id: '17', display_name: 'Ann', email: 'ann@example.com' }] } },
  },
];

let hosts: OauthHosts;
let gateway: TestGateway;
let stage: Stage;

beforeAll(async () => {
  const names = documented
    .flatMap(({ token, api }) => [token, ...Object.keys(api)])
    .map((url) => url.replace(/\/.*/, ''));
  hosts = await startOauthHosts(names);
  gateway = await startTestGateway({ POLICY_FETCH: 'public' }, { providerHosts: hosts.standIn });
  stage = await setStage(gateway);
});
afterAll(async () => {
  await stage.close();
  await gateway.close();
  await hosts.close();
});

const introduce = {
  actions: [
    {
      type: 'add-headers',
      config: {
        headers: {
          'x-visitor':
            '${actions.oauth.identity.provider_user_id} ${actions.oauth.identity.name} ${actions.oauth.identity.email}',
        },
      },
    },
  ],
};
const serve = (config: object) =>
  stage.servePolicy({
    on_http_request: [
      { actions: [{ type: 'oauth', config: { client_id: 'app', client_secret: 'secret', ...config } }] },
      introduce,
    ],
  });

/** Opens a page, and comes back from the provider with a code. */
async function comeBack(origin: string, { token, more, api, hasPkce = true }: Documented) {
  hosts.answers = { [token]: { access_token: 'at', token_type: 'bearer', expires_in: 3600, ...more }, ...api };
  const browser = stage.browser();
  const sent = await browser.open(`${origin}/page`, { follows: false });
  const asked = new URL(sent.headers.location ?? '');
  const { state = '', code_challenge: challenge, redirect_uri: back } = Object.fromEntries(asked.searchParams);
  expect(challenge !== undefined).toBe(hasPkce);
  hosts.challenge = challenge;
  const page = await browser.open(`${back}?${new URLSearchParams({ code: 'c', state })}`);
  return { browser, asked, page };
}

test.each(documented)('$provider', async (one) => {
  const origin = await serve({ provider: one.provider });
  const { asked, page } = await comeBack(origin, one);
  expect([asked.origin + asked.pathname, asked.searchParams.get('scope')]).toEqual([one.page, one.scope]);
  expect([page.status, page.url]).toEqual([200, `${origin}/page`]);
  expect(echoOf(page).headers['x-visitor']).toBe(`17 Ann ${one.email ?? 'ann@example.com'}`);
  const form = hosts.asked.findLast(({ place }) => place === one.token)?.form;
  expect(form).toMatchObject({
    client_id: 'app',
    client_secret: 'secret',
    code: 'c',
    grant_type: 'authorization_code',
  });
});

const [, , github] = documented as [Documented, Documented, Documented];

test("GitHub's errors, which come with 200, are errors", async () => {
  const refused = {
    ...github,
    more: { access_token: undefined, error: 'bad_verification_code', error_description: '<b>' },
  };
  expect(errorOf((await comeBack(await serve({ provider: 'github' }), refused)).page)).toBe('ERR_GATEWAY_3122');
});

test.each([
  ['a guest of another tenant', { userPrincipalName: 'ann_example.com#EXT#@tenant.example' }],
  ['nobody', {}],
])("Microsoft's name of %s is no e-mail address", async (_, user) => {
  const one = documented.find(({ provider }) => provider === 'microsoft') as Documented;
  const api = { 'graph.microsoft.com/v1.0/me': { id: '17', displayName: 'Ann', mail: 'boss@other.example', ...user } };
  const { page } = await comeBack(await serve({ provider: 'microsoft' }), { ...one, api });
  expect(echoOf(page).headers['x-visitor']).toBe('17 Ann');
});

test('the primary address at GitHub comes before that of the profile, when it is verified', async () => {
  const emails = (verified: boolean) => [
    { email: 'other@example.com', primary: false, verified: true },
    { email: 'first@example.com', primary: true, verified },
  ];
  const origin = await serve({ provider: 'github', scopes: ['user:email'] });
  const nameWith = async (verified: boolean) => {
    const api = { ...github.api, 'api.github.com/user/emails': emails(verified) };
    return echoOf((await comeBack(origin, { ...github, api })).page).headers['x-visitor'];
  };
  expect([await nameWith(true), await nameWith(false)]).toEqual(['17 Ann first@example.com', '17 Ann ann@example.com']);
});

test('the example of the manual lets in one visitor of GitHub', async () => {
  const [, example = ''] = /`oauth` does the same with[\s\S]*?```yaml\n([\s\S]*?)\n```/.exec(manual) ?? [];
  const origin = await stage.servePolicy(parse(example));
  const statusOf = async (email: string) => {
    const emails = [{ email, primary: true, verified: true }];
    const api = { ...github.api, 'api.github.com/user/emails': emails };
    return (await comeBack(origin, { ...github, api })).page.status;
  };
  expect([await statusOf('ann@example.com'), await statusOf('eve@example.com')]).toEqual([200, 403]);
});

test('an API that says nothing of the visitor lets nobody in', async () => {
  const origin = await serve({ provider: 'github' });
  expect(errorOf((await comeBack(origin, { ...github, api: {} })).page)).toBe('ERR_GATEWAY_5204');
  expect(errorOf((await comeBack(origin, { ...github, api: { 'api.github.com/user': {} } })).page)).toBe(
    'ERR_GATEWAY_5536',
  );
});

test.each([
  [{ provider: 'nobody', client_id: 'a', client_secret: 'b' }, 2222, /must be one of .*amazon.*facebook.*github/],
  [{ provider: 'github' }, 2234, /client_id is missing/],
])('a policy with %j is refused', async (config, number, reason) => {
  const served = stage.servePolicy({ on_http_request: [{ actions: [{ type: 'oauth', config }] }] });
  await expect(served).rejects.toThrow(reason);
  await expect(served).rejects.toThrow(`ERR_GATEWAY_${number}`);
});
