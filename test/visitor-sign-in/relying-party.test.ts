// The cases of the OpenID Foundation for relying parties, as far as a provider that is told what to answer wrongly can play them. The
// manual of traffic policies lists them, and says why others are not among them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { callbackPath } from '../../src/visitor-sign-in/callback-address.ts';
import { manual } from '../documents/policy-manual.ts';
import { sharedGatewayWithAccount, type TestGateway } from '../support/gateway/gateway.ts';
import type { Browser, Page } from './browser.ts';
import { CLIENT, startProvider } from './provider.ts';
import { echoOf, errorOf, logIn, type Stage, setStage } from './support.ts';

interface Key {
  alg: string;
  privateKey: CryptoKey;
  jwk: Record<string, unknown>;
}

let gateway: TestGateway;
let stage: Stage;
let origin: string;
let own: Key;
let elliptic: Key;
let stranger: Key;

beforeAll(async () => {
  gateway = await sharedGatewayWithAccount();
  stage = await setStage(gateway);
  const told = { 'x-email': '${actions.oidc.identity.email}', 'x-name': '${actions.oidc.identity.name}' };
  origin = await stage.serve({}, { after: [{ actions: [{ type: 'set-headers', config: { headers: told } }] }] });
  [own, elliptic, stranger] = await Promise.all([
    newKey('RS256', 'own'),
    newKey('ES256', 'ec'),
    newKey('RS256', 'own'),
  ]);
});
afterEach(() => {
  stage.provider.intercept = undefined;
});
afterAll(() => stage.close());

async function newKey(alg: string, kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Signs in up to the callback. @returns its URL, and what was asked of the provider's page. */
async function callbackOf(browser: Browser): Promise<{ callback: URL; asked: URLSearchParams }> {
  const until = (url: string) => url.startsWith(gateway.api + callbackPath(gateway.accountId, stage.provider.issuer));
  const first = await browser.open(`${origin}/orders`, { until });
  const asked = new URL(first.way.find((one) => one.includes('nonce=')) ?? first.url).searchParams;
  const page = await logIn(browser, first, 'ann', { until });
  return { callback: new URL(page.headers.location ?? ''), asked };
}

/** What the provider answers in place of the right thing. */
interface Wrong {
  claims?: JWTPayload;
  /** Another way to make an ID token of its claims. */
  make?(claims: JWTPayload): string | undefined | Promise<string>;
  header?: Partial<JWTHeaderParameters>;
  key?: Key | (() => Key);
  keys?: () => Key[];
  userInfo?: object;
}

/** Signs in while the provider answers so. @returns the page where that ends. */
async function signInWith({ claims = {}, make, header = {}, key, keys, userInfo = {} }: Wrong): Promise<Page> {
  const browser = stage.browser();
  const { callback, asked } = await callbackOf(browser);
  const at = Math.floor(Date.now() / 1000);
  const base = { iss: stage.provider.issuer, aud: CLIENT.client_id, sub: 'ann', iat: at, exp: at + 600 };
  const all = { ...base, nonce: asked.get('nonce') ?? '', ...claims } as JWTPayload;
  const { alg, privateKey, jwk } = (typeof key === 'function' ? key() : key) ?? own;
  const protectedHeader = { alg, kid: String(jwk.kid), ...header };
  const idToken = make ? await make(all) : await new SignJWT(all).setProtectedHeader(protectedHeader).sign(privateKey);
  const answers: Record<string, object> = {
    '/token': { access_token: 'at', token_type: 'Bearer', expires_in: 3600, id_token: idToken },
    '/jwks': { keys: (keys?.() ?? [own, elliptic]).map((one) => one.jwk) },
    '/me': { sub: 'ann', ...userInfo },
  };
  stage.provider.intercept = (request, response) => {
    const answer = answers[request.url?.replace(/\?.*/, '') ?? ''];
    if (answer === undefined) return false;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return true;
  };
  return browser.open(callback.href);
}

const hmac = (secret: string) => (claims: JWTPayload) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'own' }).sign(Buffer.from(secret));
const withoutKid = { kid: undefined } as unknown as Partial<JWTHeaderParameters>;
const past = Math.floor(Date.now() / 1000) - 1000;

/** The name of a case, what is wrong, and the number that the visitor sees; undefined: nothing is, and the visitor comes in. */
const wrongs: [name: string, wrong: () => Wrong, number: number | undefined][] = [
  ['rp-id_token-sig-rs256', () => ({}), undefined],
  ['an ID token by an algorithm that the provider does not list', () => ({ key: elliptic }), 5204],
  ['rp-id_token-kid-absent-single-jwks', () => ({ header: withoutKid, keys: () => [own] }), undefined],
  ['rp-id_token-kid-absent-multiple-jwks', () => ({ header: withoutKid, keys: () => [own, stranger] }), 5204],
  ['rp-id_token-issuer-mismatch', () => ({ claims: { iss: 'https://other.example' } }), 5204],
  ['rp-id_token-aud', () => ({ claims: { aud: 'another' } }), 5204],
  [
    'rp-id_token-aud: given to another',
    () => ({ claims: { aud: ['another', CLIENT.client_id], azp: 'another' } }),
    5204,
  ],
  ['rp-id_token-aud: of this client, for another', () => ({ claims: { azp: 'another' } }), 5204],
  ['rp-id_token-aud: for this client', () => ({ claims: { azp: CLIENT.client_id } }), undefined],
  ['rp-id_token-iat', () => ({ claims: { iat: undefined } }), 5204],
  ['rp-id_token-iat: expired', () => ({ claims: { iat: past, exp: past + 60 } }), 5204],
  ['rp-id_token-iat: in an hour', () => ({ claims: { iat: past + 4600, exp: past + 8000 } }), 5204],
  ['rp-id_token-iat: not before an hour', () => ({ claims: { nbf: past + 4600 } }), 5204],
  ['rp-id_token-sub', () => ({ claims: { sub: undefined } }), 5204],
  ['rp-id_token-sub: none that can be', () => ({ claims: { sub: 'a\0b' } }), 5536],
  ['rp-nonce-invalid', () => ({ claims: { nonce: 'another' } }), 5204],
  ['rp-nonce-invalid: missing', () => ({ claims: { nonce: undefined } }), 5204],
  ['rp-id_token-sig-none', () => ({ make: (claims) => new UnsecuredJWT(claims).encode() }), 5204],
  ['rp-id_token-bad-sig-rs256', () => ({ key: { ...stranger, jwk: own.jwk } }), 5204],
  [
    'rp-id_token-bad-sig-es256',
    () => ({ make: async (claims) => `${await signedBy(elliptic, claims)}`.replace(/.{8}$/, 'AAAAAAAA') }),
    5204,
  ],
  ['rp-id_token-bad-sig-hs256', () => ({ make: hmac('a guess') }), 5204],
  ['rp-id_token-sig-hs256', () => ({ make: hmac(CLIENT.client_secret) }), 5204],
  ['rp-id_token-sig-hs256: by the public key', () => ({ make: hmac(JSON.stringify(own.jwk)) }), 5204],
  ['an ID token that is none', () => ({ make: () => 'no token' }), 5204],
  ['an ID token too long to be kept', () => ({ claims: { more: 'a'.repeat(20_000) } }), 5204],
  ['no ID token', () => ({ make: () => undefined }), 5203],
  ['rp-userinfo-bad-sub-claim', () => ({ userInfo: { sub: 'bob' } }), 5204],
];

const signedBy = ({ alg, privateKey, jwk }: Key, claims: JWTPayload) =>
  new SignJWT(claims).setProtectedHeader({ alg, kid: String(jwk.kid) }).sign(privateKey);

test.each(wrongs)('%s', async (_, wrong, number) => {
  const page = await signInWith(wrong());
  expect([page.status === 200, errorOf(page)]).toEqual([number === undefined, number && `ERR_GATEWAY_${number}`]);
});

/** Cases in which nothing is wrong, with the provider as it is. */
const rights: [name: string, check: () => Promise<void>][] = [
  [
    'rp-response_type-code',
    async () => {
      const { asked } = await callbackOf(stage.browser());
      expect(Object.fromEntries(asked)).toMatchObject({ response_type: 'code', code_challenge_method: 'S256' });
      expect(asked.get('response_mode')).toBeNull();
    },
  ],
  [
    'rp-scope-userinfo-claims',
    async () => {
      const { page } = await stage.signIn(`${origin}/`, 'ann');
      expect(echoOf(page).headers).toMatchObject({ 'x-email': 'ann@example.com', 'x-name': 'Name of ann' });
    },
  ],
  [
    'rp-userinfo-bearer-header',
    async () => {
      await stage.signIn(`${origin}/`);
      expect(stage.provider.asked('/me').at(-1)).toMatchObject({
        method: 'GET',
        authorization: expect.stringMatching(/^Bearer ./),
        body: '',
      });
    },
  ],
  [
    'rp-token_endpoint-client_secret_basic',
    async () => {
      await stage.signIn(`${origin}/`);
      const { authorization = '', body = '' } = stage.provider.asked('/token').at(-1) ?? {};
      expect(authorization).toMatch(/^Basic ./);
      expect(body).not.toContain('client_secret');
    },
  ],
  [
    'rp-token_endpoint-client_secret_post',
    async () => {
      const provider = await startProvider({ authMethod: 'client_secret_post' });
      provider.register(gateway.api + callbackPath(gateway.accountId, provider.issuer));
      const { page } = await stage.signIn(`${await stage.serve({ issuer_url: provider.issuer })}/`);
      const asked = provider.asked('/token').at(-1);
      await provider.close();
      expect([page.status, asked?.authorization]).toEqual([200, '']);
      expect(new URLSearchParams(asked?.body).get('client_secret')).toBe(CLIENT.client_secret);
    },
  ],
  [
    'rp-id_token-sig-es256',
    async () => {
      const provider = await startProvider({ alg: 'ES256' });
      provider.register(gateway.api + callbackPath(gateway.accountId, provider.issuer));
      const { page } = await stage.signIn(`${await stage.serve({ issuer_url: provider.issuer })}/`);
      await provider.close();
      expect(page.status).toBe(200);
    },
  ],
  [
    'rp-discovery-openid-configuration',
    async () => {
      expect(stage.provider.asked('/.well-known/openid-configuration').length).toBeGreaterThan(0);
    },
  ],
  [
    'rp-discovery-jwks_uri-keys',
    async () => {
      expect(stage.provider.asked('/jwks').length).toBeGreaterThan(0);
    },
  ],
  [
    'rp-discovery-issuer-not-matching-config',
    async () => {
      const { issuer } = stage.provider;
      for (const issuer_url of [issuer.replace('127.0.0.1', 'localhost'), `${issuer}/`])
        expect(errorOf(await stage.browser().open(`${await stage.serve({ issuer_url })}/`))).toBe('ERR_GATEWAY_5202');
    },
  ],
  [
    'rp-key-rotation-op-sign-key',
    async () => {
      await stage.provider.rotateKeys();
      expect((await stage.signIn(`${origin}/`)).page.status).toBe(200);
    },
  ],
  [
    'rp-init-logout',
    async () => {
      const { browser } = await stage.signIn(`${origin}/`);
      const page = await browser.open(`${origin}/_gateway/logout`);
      expect(page.body).toMatch(/<a href="[^"]*\/session\/end\?id_token_hint=[\w.-]+/);
    },
  ],
];

test.each(rights)('%s', (_, check) => check());

test('the manual lists the cases that are run', () => {
  const [, listed = ''] = /<!-- relying-party -->\n([\s\S]*?)\n\n/.exec(manual) ?? [];
  const names = [...listed.matchAll(/`(rp-[\w-]+)`/g)].map(([, name]) => name);
  const run = [...wrongs, ...rights].map(([name]) => name.replace(/:.*/, '')).filter((name) => name.startsWith('rp-'));
  expect(names.sort()).toEqual([...new Set(run)].sort());
});
