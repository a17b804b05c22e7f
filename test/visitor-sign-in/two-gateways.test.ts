// Two gateways on one database: a log-in that is begun at one and finished at the other, and a session of both.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endAppSessions } from '../../src/store/visitors/app-session-rows.ts';
import { onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';
import { errorOf, type Stage, setStage } from './support.ts';

const HOUR = 3_600_000;
const asData = { headers: { 'sec-fetch-dest': 'empty' } };

describe.runIf(onServer)('two gateways on one server', () => {
  let place: Place;
  let first: TestGateway;
  let second: TestGateway;
  let stage: Stage;
  let passed = 0;

  beforeAll(async () => {
    place = await newPlace();
    const options = { place, now: () => Date.now() + passed };
    const at = (host: string) => ({ HOST: host, NODE_ADDR: host, NODE_PORT: '0' });
    first = await startTestGateway(at('127.0.0.1'), options);
    second = await startTestGateway(at('127.0.0.2'), options);
    stage = await setStage(first);
  });
  afterAll(async () => {
    await stage?.close();
    await Promise.all([first?.close(), second?.close()]);
    await place?.remove();
  });

  test('an answer that has come to one is no use at the other', async () => {
    const origin = await stage.serve();
    const attacker = stage.browser();
    const asked = await attacker.open(`${origin}/`, { follows: false });
    const until = (url: string) => url.includes('/_gateway/oauth2/finish');
    const victim = stage.browser();
    const { headers } = await stage.reach(victim, asked.headers.location ?? '', until);
    victim.listener = second.http;
    expect(errorOf(await victim.open(headers.location ?? ''))).toBe('ERR_GATEWAY_3121');
    expect(errorOf(await attacker.open(headers.location ?? ''))).toBe('ERR_GATEWAY_3123');
  });

  test('either finishes what the other has begun, renews for both, and hears what the other ends', async () => {
    const origin = await stage.serve();
    const browser = stage.browser();
    const until = (url: string) => url.includes('/_gateway/oauth2/finish');
    const back = await stage.reach(browser, `${origin}/page`, until);
    browser.listener = second.http;
    const page = await browser.open(back.headers.location ?? '');
    expect([page.status, page.url]).toEqual([200, `${origin}/page`]);

    const other = browser.copy();
    other.listener = first.http;
    expect((await other.open(`${origin}/`, asData)).status).toBe(200);
    passed += HOUR + 1000;
    const both = Array.from({ length: 25 }, () => [browser, other]).flat();
    const pages = await Promise.all(both.map((one) => one.open(`${origin}/`, asData)));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
    const refreshes = stage.provider.asked('/token').filter(({ body }) => body.includes('refresh_token='));
    expect(refreshes).toHaveLength(1);

    const { prisma, changes } = first.app;
    const { accountId } = first;
    await changes.transaction(prisma, (tx, announce) => endAppSessions(tx, announce, { accountId }));
    expect((await other.open(`${origin}/`, asData)).status).toBe(401);
    await expect.poll(async () => (await browser.open(`${origin}/`, asData)).status).toBe(401);
  });
});
