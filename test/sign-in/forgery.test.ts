// A browser sends its cookie with whatever page asks it to: only the dashboard's own requests may have an effect.

import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { openStream } from '../support/gateway/sse.ts';
import {
  type Browser,
  documentId,
  newBrowser,
  operations,
  PASSWORD,
  refusal,
  signedIn,
  startWithDashboard,
} from './browser.ts';

const NOT_THE_DASHBOARD = 'FORBIDDEN ERR_GATEWAY_90201';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithDashboard({ CORS_ORIGINS: '*' });
});
afterAll(() => gateway.close());

const count = async () => (await gateway.graphql(operations.credentials)).body.data.credentials.totalCount;

describe.each([
  ['by our own framing', () => gateway.api],
  ['by Yoga’s adapter', () => gateway.byYoga()],
])('%s', (by, listener) => {
  let api: string;
  let victim: Browser;
  beforeAll(async () => {
    api = await listener();
    victim = await signedIn(gateway, gateway.key, gateway.ownerId, api);
  });

  /** What the victim's browser sends for a page, whichever it is. */
  const sends = (headers: OutgoingHttpHeaders) =>
    Object.assign(newBrowser(api), { cookie: victim.cookie, secret: victim.secret, headers });

  test.each<[string, OutgoingHttpHeaders]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another name of the same site', { 'sec-fetch-site': 'same-site', origin: 'https://tunnel.localhost' }],
    ['an address that was typed in', { 'sec-fetch-site': 'none', origin: undefined }],
    ['another site, in an old browser', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }],
    ['a page without an origin, in an old browser', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['nobody knows where', { 'sec-fetch-site': undefined, origin: undefined }],
    ['the same origin, as a form could send it', { 'gateway-dashboard': undefined }],
  ])('a request from %s is refused', async (_, headers) => {
    const before = await count();
    expect(refusal(await sends(headers).ask('createCredential'))).toBe(NOT_THE_DASHBOARD);
    expect(refusal(await sends(headers).ask('signOut'))).toBe(NOT_THE_DASHBOARD);
    expect((await sends(headers).send('GET', '/export/credentials')).status).toBe(403);
    const stranger = Object.assign(newBrowser(api), { headers });
    const answer = await stranger.signIn('admin@localhost');
    expect(refusal(answer)).toBe(NOT_THE_DASHBOARD);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await count()).toBe(before);
  });

  test('the dashboard downloads a list, and needs the secret of its page for it', async () => {
    const { status, headers } = await sends({}).send('GET', '/export/credentials');
    expect(status).toBe(200);
    expect(headers['content-disposition']).toContain('filename="credentials-');
    expect((await sends({ 'gateway-dashboard': '1' }).send('GET', '/export/credentials')).status).toBe(401);
  });

  test('an old browser, which says its origin alone, may', async () => {
    const { body } = await sends({ 'sec-fetch-site': undefined }).ask('viewer');
    expect(body.data.viewer.isAdmin).toBe(true);
  });

  test.each([
    ['application/x-www-form-urlencoded', `query=${encodeURIComponent(operations.createCredential)}`],
    ['text/plain', JSON.stringify({ documentId: documentId('createCredential') })],
    ['multipart/form-data; boundary=x', '--x--'],
  ])('a form, %s, is refused', async (type, body) => {
    const before = await count();
    const answer = await sends({ 'content-type': type }).send('POST', '/graphql', body);
    expect(answer.status).toBe(415);
    expect(await count()).toBe(before);
  });

  test('GET is refused, even from a page of our own', async () => {
    const query = encodeURIComponent(operations.credentials);
    const answer = await sends({ 'content-type': undefined }).send('GET', `/graphql?query=${query}`);
    expect(refusal(answer)).toBe(NOT_THE_DASHBOARD);
  });

  // It is served before anything gets to an adapter: there it would be the same once more.
  if (by === 'by our own framing')
    test('GraphiQL opens all the same', async () => {
      const headers = { 'sec-fetch-site': 'none', accept: 'text/html', 'content-type': undefined };
      expect((await sends(headers).send('GET', '/graphql')).status).toBe(200);
    });

  test('a document of one’s own is refused, and why is said', async () => {
    const before = await count();
    const answer = await victim.post({ query: operations.createCredential });
    expect(refusal(answer)).toBe('FORBIDDEN ERR_GATEWAY_90202');
    expect(answer.body.errors[0].message).toMatch(/documentId.*API key/);
    expect(await count()).toBe(before);
    const json = {
      'content-type': 'application/json',
      'gateway-dashboard': victim.secret,
      'sec-fetch-site': 'same-origin',
    };
    const stream = openStream(
      api,
      { ...json, cookie: `__Host-gateway_session=${victim.cookie}` },
      { query: operations.watch },
    );
    const refused = await stream.then((opened) => opened.next()).catch((error: Error) => ({ errors: [error] }));
    expect(refused.data ?? null).toBeNull();
  });

  test.each([
    ['unknown', { documentId: `sha256:${'0'.repeat(64)}` }, 'ERR_GATEWAY_90203'],
    ['no digest', { documentId: 'createCredential' }, 'ERR_GATEWAY_215'],
    ['no text', { documentId: 7 }, 'ERR_GATEWAY_215'],
    ['besides a query', { documentId: documentId('viewer'), query: operations.viewer }, 'ERR_GATEWAY_215'],
  ])('a documentId that is %s is refused', async (_, body, errorCode) => {
    const answer = await victim.post(body);
    expect(refusal(answer)).toBe(`BAD_USER_INPUT ${errorCode}`);
    expect(answer.body.errors[0].extensions.field).toBe('documentId');
  });

  test('a subscription goes the same way', async () => {
    const stream = await victim.watch();
    await victim.ask('createCredential');
    expect(await stream.next()).toEqual({ data: { credentialChanged: { action: 'CREATED' } } });
    stream.close();
  });

  test('whoever sends an API key is judged by that alone', async () => {
    const member = await (await gateway.newAccount()).addOwner();
    const withKey = sends({ authorization: `Bearer ${member.key}`, 'sec-fetch-site': 'cross-site' });
    expect((await withKey.post({ query: '{ viewer { user { id } } }' })).body.data.viewer.user.id).toBe(member.ownerId);
    const withWrongKey = sends({ authorization: 'Bearer not-a-key-at-all-00' });
    expect(refusal(await withWrongKey.ask('viewer'))).toBe('UNAUTHENTICATED ERR_GATEWAY_203');
    expect(refusal(await withWrongKey.ask('credentials'))).toBe('UNAUTHENTICATED ERR_GATEWAY_203');
  });
});

test('REST takes no cookie', async () => {
  const browser = await signedIn(gateway, gateway.key, gateway.ownerId);
  browser.headers = { 'service-version': '2' };
  expect(await browser.send('GET', '/credentials')).toMatchObject({
    status: 401,
    body: { error_code: 'ERR_GATEWAY_200' },
  });
  expect((await browser.send('POST', '/credentials', '{}')).status).toBe(401);
});

test.each(['', 'x', 'A'.repeat(43), `${'A'.repeat(42)}!`, 'A'.repeat(5000)])(
  'the cookie %j is nobody’s',
  async (cookie) => {
    const browser = Object.assign(newBrowser(gateway.api), { cookie, secret: 'A'.repeat(43) });
    expect((await browser.ask('viewer')).body).toEqual({ data: { viewer: null } });
    expect(refusal(await browser.ask('credentials'))).toBe('UNAUTHENTICATED ERR_GATEWAY_90200');
  },
);

test('a stale cookie is in nobody’s way who signs in', async () => {
  const admin = await signedIn(gateway, gateway.key, gateway.ownerId);
  await admin.ask('signOut');
  const browser = Object.assign(newBrowser(gateway.api), { cookie: 'A'.repeat(43) });
  expect((await browser.signIn('admin@localhost', PASSWORD)).body.errors).toBeUndefined();
  expect((await browser.ask('viewer')).body.data.viewer.isAdmin).toBe(true);
});
