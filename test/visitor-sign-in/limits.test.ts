// How long visitors stay signed in, and what the provider has to say meanwhile. The clock of this gateway is moved.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { reserve } from '../support/agents/live.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { echoOf, errorOf, type Stage, setStage } from './support.ts';

const [SECOND, HOUR, DAY] = [1000, 3_600_000, 86_400_000];

let gateway: TestGateway;
let stage: Stage;
let passed = 0;

beforeAll(async () => {
  gateway = await startTestGateway({}, { now: () => Date.now() + passed });
  stage = await setStage(gateway);
});
afterEach(() => {
  stage.provider.intercept = undefined;
});
afterAll(async () => {
  await stage.close();
  await gateway.close();
});

const refreshes = () => stage.provider.asked('/token').filter(({ body }) => body.includes('grant_type=refresh_token'));
const introduce = {
  actions: [
    {
      type: 'set-headers',
      config: {
        headers: {
          'x-email': '${actions.oidc.identity.email}',
          'x-token': '${actions.oidc.access_token}',
          'x-checked': '${string(actions.oidc.user_info_refreshed)}',
          'x-error': "${has(actions.oidc.error) ? actions.oidc.error.code + ' ' + actions.oidc.error.message : ''}",
        },
      },
    },
  ],
};
/** What a program gets that has the browser's cookies: no redirect. */
const asData = { headers: { 'sec-fetch-dest': 'empty' } };

/** Lets the provider answer at a path. */
function answerAt(path: string, status: number, answer: object): void {
  stage.provider.intercept = (request, response) => {
    if (request.url?.replace(/\?.*/, '') !== path) return false;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return true;
  };
}

test('a session ends without use, and sooner or later in any case', async () => {
  const origin = await stage.serve();
  const { browser } = await stage.signIn(`${origin}/`);
  passed += 71 * HOUR;
  expect((await browser.open(`${origin}/`, asData)).status).toBe(200);
  passed += 73 * HOUR;
  expect((await browser.open(`${origin}/`, asData)).status).toBe(401);

  const { browser: busy } = await stage.signIn(`${origin}/`);
  for (let day = 2; day < 14; day += 2) {
    passed += 2 * DAY;
    expect((await busy.open(`${origin}/`, asData)).status, `day ${day}`).toBe(200);
  }
  passed += 2 * DAY;
  expect((await busy.open(`${origin}/`, asData)).status).toBe(401);
});

test('shorter limits of a changed policy hold for sessions that there are', async () => {
  const settings = { auth_cookie_domain: 'shared.tunnel.localhost' };
  await reserve(gateway, settings.auth_cookie_domain);
  const { browser } = await stage.signIn(`${await stage.serveAt('a.shared.tunnel.localhost', settings)}/`);
  const strict = await stage.serveAt('b.shared.tunnel.localhost', { ...settings, max_session_duration: '1h' });
  browser.share('a.shared.tunnel.localhost', 'b.shared.tunnel.localhost');
  expect((await browser.open(`${strict}/`, asData)).status).toBe(200);
  passed += HOUR + SECOND;
  expect((await browser.open(`${strict}/`, asData)).status).toBe(401);
});

test('fifty requests at once redeem the refresh token once, and all go on', async () => {
  const origin = await stage.serve({}, { after: [introduce] });
  const { page, browser } = await stage.signIn(`${origin}/`);
  const [before, token] = [refreshes().length, echoOf(page).headers['x-token']];
  passed += HOUR + SECOND;
  const pages = await Promise.all(Array.from({ length: 50 }, () => browser.open(`${origin}/`, asData)));
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
  expect(refreshes().length - before).toBe(1);
  expect(new Set(pages.map((one) => echoOf(one).headers['x-token'])).size).toBe(1);
  expect(echoOf(pages[0] as typeof page).headers['x-token']).not.toBe(token);
});

test('a refresh token stays when the provider gives no other, and the one that it gives takes its place', async () => {
  const origin = await stage.serve();
  const { browser } = await stage.signIn(`${origin}/`);
  const redeemed = async () => {
    passed += HOUR + SECOND;
    expect((await browser.open(`${origin}/`, asData)).status).toBe(200);
    return new URLSearchParams(refreshes().at(-1)?.body).get('refresh_token');
  };
  answerAt('/token', 200, { access_token: 'a', token_type: 'Bearer', expires_in: 3600 });
  const first = await redeemed();
  expect(await redeemed()).toBe(first);
  answerAt('/token', 200, { access_token: 'b', token_type: 'Bearer', expires_in: 3600, refresh_token: 'next' });
  expect(await redeemed()).toBe(first);
  expect(await redeemed()).toBe('next');
});

test('a provider that takes the refresh token back ends the session; one that is away does not, and rules know', async () => {
  const origin = await stage.serve({}, { after: [introduce] });
  const { browser } = await stage.signIn(`${origin}/`);
  passed += HOUR + SECOND;
  answerAt('/token', 503, { error: 'temporarily_unavailable' });
  const { headers } = echoOf(await browser.open(`${origin}/`, asData));
  expect(headers['x-error']).toEqual(
    expect.stringMatching(/^ERR_GATEWAY_5202 The gateway cannot talk to the identity provider/),
  );
  answerAt('/token', 400, { error: 'invalid_grant' });
  passed += 5 * SECOND;
  expect((await browser.open(`${origin}/`, asData)).status).toBe(401);
  stage.provider.intercept = undefined;
  expect((await browser.open(`${origin}/`, asData)).status).toBe(401);
});

test('while a provider hangs, one request waits for a moment, no other does, and its late answer counts', async () => {
  const origin = await stage.serve({}, { after: [introduce] });
  const visitors = [await stage.signIn(`${origin}/`), await stage.signIn(`${origin}/`, 'bob')];
  const open = async ({ browser }: (typeof visitors)[number]) => {
    passed += 3 * SECOND;
    return echoOf(await browser.open(`${origin}/`, asData)).headers;
  };
  const held: (() => void)[] = [];
  let givenUp = 0;
  stage.provider.intercept = async (request, response) => {
    if (request.url !== '/token') return false;
    response.on('close', () => (givenUp += response.writableFinished ? 0 : 1));
    await new Promise<void>((resolve) => held.push(resolve));
    return false;
  };
  passed += HOUR;
  for (const visitor of [...visitors, ...visitors, ...visitors]) {
    const { 'x-token': token, 'x-error': error } = await open(visitor);
    expect([token, error]).toEqual([
      echoOf(visitor.page).headers['x-token'],
      expect.stringMatching(/^ERR_GATEWAY_5202/),
    ]);
  }
  // Each session is renewed once. Had each request waited for a moment, the first of them would have been given up.
  expect([held.length, givenUp]).toEqual([2, 0]);
  for (const answer of held) answer();
  for (const visitor of visitors)
    await vi.waitFor(async () => {
      const { 'x-token': token, 'x-error': error } = await open(visitor);
      expect([token === echoOf(visitor.page).headers['x-token'], error]).toEqual([false, '']);
    }, 10_000);
  expect(held).toHaveLength(2);
});

test('rules decide anew when the provider says something else of a visitor', async () => {
  const guard = {
    expressions: ["!actions.oidc.identity.email.endsWith('@example.com')"],
    actions: [{ type: 'deny', config: { status_code: 403 } }],
  };
  const origin = await stage.serve({ userinfo_refresh_interval: '60s' }, { after: [guard, introduce] });
  const { page, browser } = await stage.signIn(`${origin}/`, 'eve');
  expect(echoOf(page).headers).toMatchObject({ 'x-email': 'eve@example.com', 'x-checked': 'false' });
  stage.provider.users.set('eve', { email: 'eve2@example.com' });
  expect(echoOf(await browser.open(`${origin}/`, asData)).headers['x-email']).toBe('eve@example.com');
  passed += 61 * SECOND;
  const checked = echoOf(await browser.open(`${origin}/`, asData)).headers;
  expect([checked['x-email'], checked['x-checked']]).toEqual(['eve2@example.com', 'true']);
  stage.provider.users.set('eve', { email: 'eve@other.example' });
  passed += 61 * SECOND;
  expect((await browser.open(`${origin}/`, asData)).status).toBe(403);
  answerAt('/me', 401, { error: 'invalid_token' });
  passed += 61 * SECOND;
  expect((await browser.open(`${origin}/`, asData)).status).toBe(401);
});

test('what is open when the time of its session is over is cut', async () => {
  const origin = await stage.serve({ max_session_duration: '1h' });
  const { browser } = await stage.signIn(`${origin}/`);
  const { host, hostname } = new URL(origin);
  const headers = { host, cookie: browser.header(hostname) };
  const socket = new WebSocket(`ws://${gateway.http}/`, { headers });
  await once(socket, 'open');
  const closed = once(socket, 'close');
  passed += HOUR + SECOND;
  gateway.app.changes.reportGap(); // The next look is in ten seconds; after a gap, it comes at once.
  await closed;
});

test('a log-in takes 15 minutes at most', async () => {
  const origin = await stage.serve();
  const browser = stage.browser();
  const until = (url: string) => url.startsWith(gateway.api);
  const page = await stage.reach(browser, `${origin}/`, until);
  const url = page.headers.location ?? '';
  passed += 15 * 60 * SECOND + SECOND;
  expect(errorOf(await browser.open(url))).toBe('ERR_GATEWAY_3119');
});

test('keys that the provider has changed are found at once', async () => {
  const origin = await stage.serve();
  expect((await stage.signIn(`${origin}/`)).page.status).toBe(200);
  await stage.provider.rotateKeys();
  expect((await stage.signIn(`${origin}/`)).page.status).toBe(200);
});
