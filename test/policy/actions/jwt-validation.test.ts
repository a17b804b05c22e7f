// Tokens of an issuer on this machine, as visitors bring them to a policy that asks for them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies are full of them

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Verdict } from '../../../src/http/module.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import { ENDPOINT, environmentOf, exchangeOf, NOON, type TestEnvironment } from '../exchange-support.ts';
import { type Issuer, type KeyPair, keyPair, signed, startIssuer } from './issuer.ts';

let issuer: Issuer;
let key: KeyPair;
let rsa: KeyPair;
let environment: TestEnvironment;

beforeAll(async () => {
  [key, rsa] = await Promise.all([keyPair(), keyPair('RS256', 'rsa')]);
  issuer = await startIssuer([key, rsa]);
});

beforeEach(() => {
  environment = environmentOf();
  issuer.publish([key, rsa]);
  issuer.asked.length = 0;
});

afterAll(() => issuer.close());

const bearer = { type: 'access_token', method: 'header', name: 'authorization', prefix: 'Bearer ' };

interface Wanted {
  tokens?: object[];
  issuers?: string[];
  /** Null: to be discovered. */
  keys?: object | null;
  algorithms?: string[];
}

/** A policy that lets in who has a token, and answers who it is. */
function gate({ tokens = [bearer], issuers = [issuer.url], keys, algorithms = ['ES256', 'RS256'] }: Wanted = {}) {
  const config = {
    issuer: { allow_list: issuers.map((value) => ({ value })) },
    audience: { allow_list: [{ value: 'api' }, { value: 'other' }] },
    http: { tokens },
    jws: {
      allowed_algorithms: algorithms,
      ...(keys !== null && { keys: keys ?? { sources: { additional_jkus: [issuer.jwks] } } }),
    },
  };
  const body = '${actions.jwt_validation.tokens[0].payload.sub}';
  const actions = [
    { type: 'jwt-validation', config },
    { type: 'custom-response', config: { body } },
  ];
  const { http } = compilePolicyDocument({ on_http_request: [{ actions }] }, ENDPOINT, environment);
  return async (...fields: [string, string][]) => (await http?.onRequest?.(exchangeOf({ fields }))) as Verdict;
}

const come = (visit: ReturnType<typeof gate>, token: string) => visit(['Authorization', `Bearer ${token}`]);
const letIn = { kind: 'answer', status: 200, body: Buffer.from('user-1') };
const refused = (reason: RegExp) => ({ kind: 'refuse', error: 'badToken', reason: expect.stringMatching(reason) });
const good = (claims: object = {}, header = {}) => signed(key, { iss: issuer.url, ...claims }, header);

test('who brings a good token comes in, and the policy knows what it says', async () => {
  expect(await come(gate(), await good())).toMatchObject(letIn);
  expect(await come(gate(), await good({ aud: ['else', 'other'] }))).toMatchObject(letIn);
  expect(await come(gate(), await signed(rsa, { iss: issuer.url }))).toMatchObject(letIn);
});

test('a token that has ended, has not begun, or is for others is refused', async () => {
  const visit = gate();
  const now = NOON / 1000;
  for (const [claims, reason] of [
    [{ exp: now - 6 }, /"exp"/],
    [{ nbf: now + 6 }, /"nbf"/],
    [{ aud: 'elsewhere' }, /"aud"/],
    [{ aud: undefined }, /"aud"/],
    [{ iss: `${issuer.url}/` }, /issuer/],
    [{ iss: undefined }, /issuer/],
  ] as const)
    expect(await come(visit, await good(claims))).toMatchObject(refused(reason));
  // Clocks differ by a few seconds.
  expect(await come(visit, await good({ exp: now - 4, nbf: now + 5 }))).toMatchObject(letIn);
});

test('a token that somebody else signed is refused, whatever it says of its key', async () => {
  const stranger = await keyPair('ES256', 'first');
  const visit = gate();
  expect(await come(visit, await signed(stranger, { iss: issuer.url }))).toMatchObject(
    refused(/not signed with a key/),
  );
  const own = { jwk: stranger.jwk, jku: 'https://keys.example.com/stranger' } as object;
  expect(await come(visit, await signed(stranger, { iss: issuer.url }, own))).toMatchObject(refused(/not signed/));
  const [head = '', , signature = ''] = (await good()).split('.');
  const changed = Buffer.from(JSON.stringify({ iss: issuer.url, aud: 'api', sub: 'admin' })).toString('base64url');
  expect(await come(visit, `${head}.${changed}.${signature}`)).toMatchObject(refused(/not signed/));
});

test('a token without a signature, or signed with the public key as if it were a secret, is refused', async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = part({ iss: issuer.url, aud: 'api', exp: NOON / 1000 + 60 });
  const unsigned = `${part({ alg: 'none' })}.${claims}.`;
  const forged = `${part({ alg: 'HS256', kid: 'rsa' })}.${claims}`;
  const mac = createHmac('sha256', JSON.stringify(rsa.jwk)).update(forged).digest('base64url');
  const visit = gate();
  expect(await come(visit, unsigned)).toMatchObject(refused(/algorithm/));
  expect(await come(visit, `${forged}.${mac}`)).toMatchObject(refused(/algorithm/));
  expect(await come(gate({ algorithms: ['ES256'] }), await signed(rsa, { iss: issuer.url }))).toMatchObject(
    refused(/algorithm/),
  );
  expect(issuer.asked).toEqual([]);
});

test('what is no token is refused, and so is one that is missing, there twice, or not behind its prefix', async () => {
  const token = await good();
  const visit = gate();
  expect(await visit()).toMatchObject({
    ...refused(
      /rule on_http_request\[0\], action jwt-validation: the token in authorization is refused: it is missing/,
    ),
    fields: [['WWW-Authenticate', 'Bearer error="invalid_token"']],
  });
  const field: [string, string] = ['Authorization', `Bearer ${token}`];
  expect(await visit(field, ['authorization', 'Bearer x'])).toMatchObject(refused(/more than once/));
  expect(await visit(['Authorization', token])).toMatchObject(refused(/does not begin with "Bearer "/));
  expect(await visit(['Authorization', `bearer ${token}`])).toMatchObject(letIn);
  for (const text of ['', 'x', 'a.b.c', '...', `${token}.x`, `${token}x`, '{}.{}.{}'])
    expect([text, await come(visit, text)]).toMatchObject([text, refused(/well-formed|not signed|Invalid/)]);
});

test('where two tokens are asked for, both have to be good', async () => {
  const visit = gate({ tokens: [bearer, { type: 'id_token', method: 'header', name: 'X-Id-Token' }] });
  const authorization: [string, string] = ['Authorization', `Bearer ${await good()}`];
  expect(await visit(authorization)).toMatchObject(refused(/token in X-Id-Token is refused: it is missing/));
  expect(await visit(authorization, ['x-id-token', 'x'])).toMatchObject(refused(/X-Id-Token/));
  expect(await visit(authorization, ['x-id-token', await good()])).toMatchObject(letIn);
});

test('a token of the type at+jwt has to say that it is one', async () => {
  const visit = gate({ tokens: [{ ...bearer, type: 'at+jwt' }] });
  expect(await come(visit, await good())).toMatchObject(refused(/"typ"/));
  expect(await come(visit, await good({}, { typ: 'at+jwt' }))).toMatchObject(letIn);
});

test('a token that does not name its key is tried with all that fit', async () => {
  const [one, other] = await Promise.all([keyPair('ES256', ''), keyPair('ES256', '')]);
  issuer.publish([one, other]);
  const visit = gate();
  expect(await come(visit, await signed({ ...other, kid: undefined }, { iss: issuer.url }))).toMatchObject(letIn);
  expect(await come(visit, await good({}, { kid: undefined }))).toMatchObject(refused(/not signed/));
});

test('keys are looked up where the issuer says that they are, when the policy does not', async () => {
  expect(await come(gate({ keys: null }), await good())).toMatchObject(letIn);
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
});

test('while the keys cannot be had, nobody is let in, and nobody is told that the token is bad', async () => {
  issuer.answer('/keys', '', 503);
  expect(await come(gate(), await good())).toMatchObject({
    kind: 'refuse',
    error: 'keysUnavailable',
    reason: expect.stringMatching(/the keys of the issuer cannot be had: http.* it answered 503$/),
  });
});

test('keys and sources may be lists, and every set of keys is looked into', async () => {
  issuer.answer('/empty', { keys: [] });
  const sources = [{ additional_jkus: [`${issuer.url}/empty`] }, { additional_jkus: [issuer.jwks] }];
  expect(
    await come(gate({ keys: [{ identification: [{ token_claims: ['kid'] }], sources }] }), await good()),
  ).toMatchObject(letIn);
});

test('a policy that cannot be kept is refused when it is uploaded', () => {
  const told = (wanted: Wanted) => {
    try {
      gate(wanted);
      return [];
    } catch (error) {
      return (error as { problems: { path: string; number: number; message: string }[] }).problems.map(
        ({ path, number, message }) =>
          `${number} ${path.replace('on_http_request[0].actions[0].config', '')} ${message}`,
      );
    }
  };
  const jku = (url: string) => ({ keys: { sources: { additional_jkus: [url] } } });
  for (const [wanted, problem] of [
    [{ algorithms: ['none'] }, /^2214 \.jws\.allowed_algorithms\[0\] must be one of RS256/],
    [{ algorithms: ['HS256'] }, /^2214 \.jws/],
    [{ algorithms: [] }, /^2223 \.jws/],
    [{ issuers: [] }, /^2223 \.issuer\.allow_list/],
    [{ issuers: ['${req.host}'] }, /^2224 \.issuer\.allow_list\[0\]\.value must not be computed/],
    [{ issuers: ['acme'], keys: null }, /^2226 \.issuer\.allow_list\[0\]\.value must be a URL .*additional_jkus/],
    [{ tokens: [] }, /^2223 \.http\.tokens/],
    [
      { tokens: [{ ...bearer, method: 'body' }] },
      /^2222 \.http\.tokens\[0\]\.method must be "header": tokens in bodies/,
    ],
    [{ tokens: [{ ...bearer, type: 'saml' }] }, /^2222 \.http\.tokens\[0\]\.type/],
    [{ tokens: [{ ...bearer, name: 'a b' }] }, /^2210 \.http\.tokens\[0\]\.name/],
    [{ tokens: [{ ...bearer, prefx: 'x' }] }, /^2204 \.http\.tokens\[0\]\.prefx is not known/],
    [
      jku('http://keys.example.com/'),
      /^2226 \.jws\.keys\.sources\.additional_jkus\[0\] must be a URL that begins with https/,
    ],
    [jku('https://user:password@keys.example.com/'), /^2226/],
    [jku('file:///etc/passwd'), /^2226/],
    [{ keys: { source: {} } }, /^2204 \.jws\.keys\.source is not known/],
  ] as [Wanted, RegExp][])
    expect([wanted, told(wanted)]).toEqual([wanted, [expect.stringMatching(problem)]]);
});
