// The files of the dashboard over HTTP.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { builtDashboard, ICON, PAGE, PIXEL, receive, SCRIPT } from './built.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({}, { dashboard: await builtDashboard() });
});
afterAll(() => gateway.close());

type Options = Parameters<typeof receive>[2];
const get = (path: string, options?: Options) => receive(gateway.api, path, options);

describe('the page', () => {
  test('is served at its own path and at the path of every object, and is revalidated each time', async () => {
    for (const path of [
      '/dashboard/',
      '/dashboard/endpoints',
      '/dashboard/traffic/ep_1/cap_2?page=2',
      '/dashboard/x/',
    ]) {
      const { status, headers, bytes } = await get(path);
      expect(status, path).toBe(200);
      expect(bytes.toString(), path).toBe(PAGE);
      expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
    }
  });

  test('is not sent again to a client that has it', async () => {
    const { headers } = await get('/dashboard/');
    const tag = String(headers.etag);
    expect(tag).toMatch(/^"[\w-]{20,}"$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await get('/dashboard/', { headers: { 'if-none-match': known } });
      expect(again, known).toMatchObject({ status: 304, headers: { etag: tag, 'cache-control': 'no-cache' } });
      expect(again.bytes).toHaveLength(0);
    }
    expect((await get('/dashboard/', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  test('is found by a redirect from the path without a slash', async () => {
    const answer = await get('/dashboard');
    expect(answer).toMatchObject({ status: 302, headers: { location: '/dashboard/' } });
  });

  test('needs neither a session nor a version header', async () => {
    expect((await get('/dashboard/', { headers: { authorization: 'Bearer wrong' } })).status).toBe(200);
  });
});

describe('a file with a content hash in its name', () => {
  test('is cached for a year, with its content type', async () => {
    const expected = { 'cache-control': 'public, max-age=31536000, immutable' };
    expect((await get('/dashboard/assets/a.js')).headers).toMatchObject({
      ...expected,
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(SCRIPT.length),
    });
    expect((await get('/dashboard/assets/icon.svg')).headers).toMatchObject({
      ...expected,
      'content-type': 'image/svg+xml',
    });
    const pixel = await get('/dashboard/assets/pixel.png');
    expect(pixel.headers).toMatchObject({ ...expected, 'content-type': 'image/png' });
    expect(pixel.bytes).toEqual(PIXEL);
  });

  test('has the same headers and no body for HEAD', async () => {
    const headers = { 'accept-encoding': 'br' };
    const [whole, head] = [
      await get('/dashboard/assets/a.js', { headers }),
      await get('/dashboard/assets/a.js', { method: 'HEAD', headers }),
    ];
    const lasting = ({ date, 'service-operation-id': id, ...rest }: object & Record<string, unknown>) => rest;
    expect(lasting(head.headers)).toEqual(lasting(whole.headers));
    expect(head.bytes).toHaveLength(0);
    expect(Number(head.headers['content-length'])).toBe(whole.bytes.length);
  });

  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['*', 'br'],
    ['*;q=0.5, br;q=0', 'gzip'],
    ['identity;q=1, br;q=0.5', undefined],
    ['br;q=0', undefined],
    ['zstd', undefined],
    ['', undefined],
  ])('with Accept-Encoding "%s" is sent in the coding %s', async (accept, coding) => {
    const { headers, bytes } = await get('/dashboard/assets/a.js', { headers: { 'accept-encoding': accept } });
    expect(headers['content-encoding']).toBe(coding);
    expect(headers.vary).toBe('Accept-Encoding');
    expect(Number(headers['content-length'])).toBe(bytes.length);
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ''] ?? ((body: Buffer) => body);
    expect(decode(bytes).toString()).toBe(SCRIPT);
  });

  test('has a different ETag in each coding', async () => {
    const tags = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (coding) => {
        const { headers } = await get('/dashboard/assets/icon.svg', { headers: { 'accept-encoding': coding } });
        return headers.etag;
      }),
    );
    expect(new Set(tags).size).toBe(3);
    expect((await get('/dashboard/assets/icon.svg')).bytes.toString()).toBe(ICON);
  });
});

describe('no other file is served:', () => {
  test.each([
    '/dashboard/assets/b.js',
    '/dashboard/assets/none',
    '/dashboard/favicon.ico',
    '/dashboard/operations.json',
    '/dashboard/.stamp',
    '/dashboard/index.html.br',
    '/dashboard/assets/a.js.gz',
    '/dashboard/../package.json',
    '/dashboard/assets/../../../../etc/passwd.txt',
    '/dashboard/%2e%2e/%2e%2e/package.json',
    '/dashboard/..%2f..%2fpackage.json',
    '/dashboard/assets/..\\..\\package.json',
    '/dashboard/assets/a.js%00.png',
    '/dashboard/constructor.js',
  ])('%s is 404', async (path) => {
    const { status, headers, bytes } = await get(path);
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(bytes.toString()).toBe('The dashboard has no such file.\n');
  });

  test('paths that only begin with the same letters belong to the API', async () => {
    expect((await get('/dashboards')).headers['content-type']).toMatch(/json/);
    expect((await get('/dashboard.html')).headers['content-type']).toMatch(/json/);
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is refused', async (method) => {
    for (const path of ['/dashboard', '/dashboard/', '/dashboard/assets/a.js'])
      expect(await get(path, { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });
});

describe('the headers', () => {
  test('allow the page only what it needs', async () => {
    for (const path of ['/dashboard/', '/dashboard/assets/a.js', '/dashboard/none.js', '/dashboard']) {
      const { headers } = await get(path);
      expect(headers, path).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': expect.stringMatching(/^accelerometer=\(\), .* publickey-credentials-get=\(self\)$/),
        'service-operation-id': expect.stringMatching(/^op_/),
      });
      expect(String(headers['content-security-policy']).split('; '), path).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]);
    }
  });

  test('do not ask for TLS over plain HTTP', async () => {
    expect((await get('/dashboard/')).headers).not.toHaveProperty('strict-transport-security');
  });

  test('do not allow pages of other origins to read it, whatever CORS_ORIGINS allows for the API', async () => {
    const open = await startTestGateway({ CORS_ORIGINS: '*' }, { dashboard: await builtDashboard() });
    const origin = { origin: 'https://elsewhere.example' };
    const { headers } = await receive(open.api, '/dashboard/', { headers: origin });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    const preflight = { ...origin, 'access-control-request-method': 'GET' };
    expect((await receive(open.api, '/dashboard/', { method: 'OPTIONS', headers: preflight })).status).toBe(405);
    await open.close();
  });
});

describe('the root of the API', () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

  test.each(['text/html', browser, 'application/json;q=0.5, text/html;q=0.6'])(
    'redirects clients that accept %s to the dashboard',
    async (accept) => {
      for (const method of ['GET', 'HEAD'])
        expect(await get('/?utm=1', { method, headers: { accept } })).toMatchObject({
          status: 302,
          headers: { location: '/dashboard/', vary: 'Accept' },
        });
    },
  );

  test.each([
    '*/*',
    'application/json',
    'application/json, text/html',
    'text/html;q=0.5, */*',
    'text/plain',
    undefined,
  ])('is the map of collections for clients that accept %s', async (accept) => {
    const { status, headers, bytes } = await get('/', { headers: accept === undefined ? {} : { accept } });
    expect(status).toBe(200);
    expect(headers.vary).toBe('Accept');
    expect(JSON.parse(bytes.toString())).toMatchObject({ subresource_uris: { endpoints: `${gateway.api}/endpoints` } });
  });

  test('allows browsers no other method either', async () => {
    expect((await get('/', { method: 'POST', headers: { accept: browser } })).status).toBe(405);
  });
});

test('if the dashboard was not built, every path says how to build it', async () => {
  const bare = await startTestGateway({}, { dashboard: '/nowhere/at/all' });
  for (const path of ['/dashboard/', '/dashboard/endpoints', '/dashboard/assets/a.js']) {
    const { status, headers, bytes } = await receive(bare.api, path);
    expect(status).toBe(404);
    expect(headers['cache-control']).toBe('no-store');
    expect(bytes.toString()).toContain('`npm run build`');
  }
  await bare.close();
});
