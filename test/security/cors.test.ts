import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPage, type Page } from '../support/browser.ts';
import { sharedGateway, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const OURS = 'https://console.example.com';
const THEIRS = 'https://evil.example.net';

const RATE = 40;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ CORS_ORIGINS: `https://other.example, ${OURS}`, RATE_LIMIT: String(RATE) });
});
afterAll(() => gateway.close());

const headersFor = (key: string) => ({ authorization: `Bearer ${key}`, 'service-version': '2' });

describe('a page of an allowed origin', () => {
  let page: Page;
  let headers: Record<string, string>;
  beforeAll(() => {
    page = openPage(OURS);
    headers = headersFor(gateway.key);
  });
  afterAll(() => page.close());

  test('creates, changes and deletes by REST', async () => {
    const json = { ...headers, 'content-type': 'application/json', 'idempotency-key': 'page' };
    const created = await page.fetch('POST', `${gateway.api}/credentials`, json, '{}');
    expect(created).toMatchObject({ status: 201, body: { token: expect.any(String) } });
    const { uri } = created.body;
    expect((await page.fetch('PATCH', uri, { ...headers, 'content-type': 'application/json' }, '{}')).status).toBe(200);
    expect((await page.fetch('DELETE', uri, headers)).status).toBe(204);
  });

  test('asks by GraphQL', async () => {
    const json = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
    const query = JSON.stringify({ query: '{ credentials { totalCount } }' });
    const answer = await page.fetch('POST', `${gateway.api}/graphql`, json, query);
    expect(answer.body).toEqual({ data: { credentials: { totalCount: 1 } } });
  });

  test('has its preflight answered without a key, and for a while', () => {
    expect(page.preflights.length).toBeGreaterThan(0);
    for (const preflight of page.preflights) {
      expect(preflight.status).toBe(204);
      expect(Number(preflight.headers['access-control-max-age'])).toBeGreaterThan(0);
      expect(preflight.headers.vary).toMatch(/Origin/i);
    }
  });

  test('reads the operation id, the rate and when to come back', async () => {
    const answer = await page.fetch('GET', `${gateway.api}/credentials`, headers);
    for (const name of ['service-operation-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
      expect(answer.headers[name], name).toBeDefined();
    const { key } = await gateway.newAccount();
    const ask = () => page.fetch('GET', `${gateway.api}/credentials`, headersFor(key));
    for (let used = 0; used < RATE; used++) await ask();
    expect(await ask()).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } });
  });

  test('reads errors, too', async () => {
    const answer = await page.fetch('GET', `${gateway.api}/credentials`, { 'service-version': '2' });
    expect(answer).toMatchObject({ status: 401, body: { error_code: 'ERR_GATEWAY_200' } });
  });
});

/** Asks in every way a page can, and expects to learn nothing. */
async function expectNothing(asked: TestGateway, origin: string): Promise<void> {
  const page = openPage(origin);
  const headers = headersFor(asked.key);
  const text = { 'content-type': 'text/plain' };
  try {
    for (const [method, path] of [
      ['GET', '/credentials'],
      ['DELETE', '/credentials/cr_1'],
    ] as const)
      await expect(page.fetch(method, asked.api + path, headers)).rejects.toThrow('preflight refused');
    await expect(page.fetch('GET', `${asked.api}/`)).rejects.toThrow('answer not readable');
    await expect(page.fetch('POST', `${asked.api}/graphql`, text, '{"query":"{__typename}"}')).rejects.toThrow(
      'answer not readable',
    );
    for (const preflight of page.preflights) expect(preflight.headers['access-control-allow-origin']).not.toBe(origin);
  } finally {
    page.close();
  }
}

test.each([
  ['another origin', THEIRS],
  ['an origin that only begins like an allowed one', `${OURS}.evil.example`],
  ['the allowed host by another scheme', OURS.replace('https', 'http')],
  ['the allowed host at another port', `${OURS}:8443`],
  ['no origin that it would tell', 'null'],
])('a page of %s gets nothing', async (_, origin) => {
  await expectNothing(gateway, origin);
});

test('no page gets anything when no origin is configured', async () => {
  await expectNothing(await sharedGateway(), OURS);
});

test('with CORS_ORIGINS=* any page may ask, but with no credentials of the browser’s', async () => {
  const open = await startTestGateway({ CORS_ORIGINS: '*' });
  const page = openPage(THEIRS);
  try {
    const answer = await page.fetch('GET', `${open.api}/credentials`, headersFor(open.key));
    expect(answer.status).toBe(200);
    for (const { headers } of page.preflights) {
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
  } finally {
    page.close();
    await open.close();
  }
});
