// How browser sessions end: by themselves, by their user, by an admin.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sweepSignIns } from '../../src/store/sign-in/sessions.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, type Owner, onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { endOf } from '../support/gateway/sse.ts';
import { isSignedIn, newBrowser, refusal, sessionsOf, signedIn, signedInAgain, startWithDashboard } from './browser.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Requests a minute of each session, and of each key. */
const ALLOWANCE = 100;
const OVER = 'UNAUTHENTICATED ERR_GATEWAY_90200';

let gateway: TestGateway;
let account: Account;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard({ RATE_LIMIT: String(ALLOWANCE) }, { now: () => time });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

const signIn = (user: Owner, by: Owner = account) => signedIn(gateway, by.key, user.ownerId);
const another = (user: Owner) => signedInAgain(gateway, user);
const update = (user: Owner, input: object) =>
  account.graphql(
    'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { user { id } } }',
    {
      ...{ id: user.ownerId, input },
    },
  );

test('each browser session has an allowance of its own', async () => {
  const user = await account.addOwner();
  const browser = await signIn(user);
  const first = await browser.ask('viewer');
  expect(first.headers).toMatchObject({ 'ratelimit-limit': `${ALLOWANCE}`, 'ratelimit-remaining': `${ALLOWANCE - 1}` });
  await Promise.all(Array.from({ length: ALLOWANCE - 1 }, () => browser.ask('viewer')));
  expect(await browser.ask('viewer')).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } });
  expect(await isSignedIn(await another(user))).toBe(true);
  expect((await user.call('GET', '/credentials')).status).toBe(200);
});

describe('by themselves:', () => {
  test('12 hours after its last use a session is over', async () => {
    const browser = await signIn(await account.addOwner());
    for (let use = 1; use <= 3; use++) {
      time += 12 * HOUR - 1;
      expect(await isSignedIn(browser)).toBe(true);
    }
    time += 12 * HOUR;
    expect(refusal(await browser.ask('credentials'))).toBe(OVER);
  });

  test('30 days after its beginning a session is over, however much it is used', async () => {
    const browser = await signIn(await account.addOwner());
    const [{ createdAt, expiresAt }] = await sessionsOf(browser);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 24 * HOUR);
    for (let use = 1; use < 90; use++) {
      time += 8 * HOUR;
      await browser.ask('viewer');
    }
    expect(await isSignedIn(browser)).toBe(true);
    time += 8 * HOUR;
    expect(refusal(await browser.ask('credentials'))).toBe(OVER);
  });

  test('its last use is noted, to the minute', async () => {
    const browser = await signIn(await account.addOwner());
    const [{ lastUsedAt: began }] = await sessionsOf(browser);
    for (const passed of [10_000, 40_000]) {
      time += passed;
      expect((await sessionsOf(browser))[0].lastUsedAt).toBe(began);
    }
    time += 10_000;
    expect(Date.parse((await sessionsOf(browser))[0].lastUsedAt) - Date.parse(began)).toBe(MINUTE);
  });

  test('what is over is cleared away, and the streams that were opened in it end', async () => {
    const { prisma, changes } = gateway.app;
    const user = await account.addOwner();
    const browser = await signIn(user);
    const stream = await browser.watch();
    const rows = () => prisma.browserSession.count({ where: { ownerId: user.ownerId } });
    await sweepSignIns(prisma, changes, time + 12 * HOUR - 1);
    expect(await rows()).toBe(1);
    await sweepSignIns(prisma, changes, time + 12 * HOUR);
    expect(await rows()).toBe(0);
    expect(await endOf(stream)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
  });

  test('a user has at most 100: the one that was not used for the longest time ends', async () => {
    const user = await account.addOwner();
    const browser = await signIn(user);
    const { prisma } = gateway.app;
    const row = await prisma.browserSession.findFirstOrThrow({ where: { ownerId: user.ownerId } });
    const later = new Date(time + 1000);
    const others = Array.from({ length: 99 }, (_, index) => ({
      ...{
        ...row,
        id: `bs_${String(index).padStart(27, '0')}`,
        digest: `digest ${user.ownerId} ${index}`,
        lastUsedAt: later,
      },
    }));
    await prisma.browserSession.createMany({ data: others });
    expect(await isSignedIn(browser)).toBe(true);
    const newest = await another(user);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await sessionsOf(newest)).toHaveLength(100);
  });
});

describe('by whoever may:', () => {
  test('signing out everywhere ends every session of the user at once, with its streams, and no one else’s', async () => {
    const [user, neighbour] = [await account.addOwner(), await account.addOwner()];
    const one = await signIn(user);
    const other = await another(user);
    const bystander = await signIn(neighbour);
    const streams = [await one.watch(), await other.watch()];
    const going = await bystander.watch();
    const answer = await one.ask('signOutEverywhere');
    expect(answer.body).toEqual({ data: { signOutEverywhere: { endedSessions: 2 } } });
    expect(answer.headers['set-cookie']?.[0]).toContain('Max-Age=0');
    for (const stream of streams) expect(await endOf(stream)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
    expect(refusal(await other.ask('credentials'))).toBe(OVER);
    await bystander.ask('createCredential');
    expect((await going.next()).data.credentialChanged.action).toBe('CREATED');
    going.close();
    // Keys stay as they are.
    expect((await user.call('GET', '/credentials')).status).toBe(200);
  });

  test('signing out ends the streams of that browser alone', async () => {
    const user = await account.addOwner();
    const one = await signIn(user);
    const other = await another(user);
    const [ofOne, ofOther] = [await one.watch(), await other.watch()];
    await one.ask('signOut');
    expect(await endOf(ofOne)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
    await other.ask('createCredential');
    expect((await ofOther.next()).data.credentialChanged.action).toBe('CREATED');
    ofOther.close();
  });

  test('a session that ended unheard has no streams', async () => {
    const user = await account.addOwner();
    const browser = await signIn(user);
    const { prisma, changes } = gateway.app;
    const stream = await browser.watch();
    await prisma.browserSession.deleteMany({ where: { ownerId: user.ownerId } });
    changes.reportGap();
    expect(await endOf(stream)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
    expect(await endOf(await browser.watch())).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
  });

  test('a deactivated user is signed out at once, for good', async () => {
    const user = await account.addOwner();
    const browser = await signIn(user);
    const stream = await browser.watch();
    await update(user, { active: false });
    expect(await endOf(stream)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
    expect(refusal(await browser.ask('credentials'))).toBe(OVER);
    await update(user, { active: true });
    expect(refusal(await browser.ask('credentials'))).toBe(OVER);
    expect(await isSignedIn(await another(user))).toBe(true);
  });

  test('a user with another role has its rights from the next request on, and streams begin anew', async () => {
    const user = await account.addOwner({ role: 'ADMIN' });
    const browser = await signIn(user);
    const create = (name: string) => browser.ask('createBot', { input: { name } });
    expect((await create(`one of ${user.ownerId}`)).body.errors).toBeUndefined();
    const stream = await browser.watch();
    await update(user, { role: 'MEMBER' });
    expect(await endOf(stream)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
    expect(refusal(await create(`two of ${user.ownerId}`))).toBe('FORBIDDEN ERR_GATEWAY_4111');
    expect((await browser.ask('viewer')).body.data.viewer.isAdmin).toBe(false);
    await update(user, { role: 'ADMIN' });
    expect((await create(`two of ${user.ownerId}`)).body.errors).toBeUndefined();
  });

  test('an admin sees and ends the sessions of others, a member does not, and nobody those of another account', async () => {
    const [user, chief] = [await account.addOwner(), await account.addOwner({ role: 'ADMIN' })];
    const [browser, admin] = [await signIn(user), await signIn(chief)];
    const userId = chief.ownerId;
    for (const name of ['sessions', 'signOutEverywhere'] as const) {
      expect(refusal(await browser.ask(name, { userId }))).toBe('FORBIDDEN ERR_GATEWAY_1220');
      expect((await browser.ask(name === 'sessions' ? name : 'viewer', { userId: null })).body.errors).toBeUndefined();
    }
    expect(await sessionsOf(admin, user.ownerId)).toEqual([expect.objectContaining({ isThis: false })]);
    expect(
      (await admin.ask('signOutEverywhere', { userId: user.ownerId })).body.data.signOutEverywhere.endedSessions,
    ).toBe(1);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await isSignedIn(admin)).toBe(true);
    const foreign = await gateway.newAccount();
    for (const id of [foreign.ownerId, 'usr_nonsense', 'a\0', ''])
      for (const name of ['sessions', 'signOutEverywhere'] as const)
        expect(refusal(await admin.ask(name, { userId: id }))).toBe('NOT_FOUND ERR_GATEWAY_90020');
    expect(await isSignedIn(admin)).toBe(true);
  });
});

describe.runIf(onServer)('with a second gateway on the same database', () => {
  let second: TestGateway;
  beforeAll(async () => {
    second = await startWithDashboard({}, { place: gateway.place, now: () => time });
    await eventually(async () => {
      const listening = await gateway.app.prisma.$queryRaw<object[]>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gateway listener' AND query <> '' AND state = 'idle'`;
      expect(listening).toHaveLength(2);
    });
  });
  afterAll(() => second?.close());

  test('a session is one at both, and ends at both with its streams', async () => {
    const here = await signIn(await account.addOwner());
    const there = Object.assign(newBrowser(second.api), { cookie: here.cookie, secret: here.secret });
    expect(await isSignedIn(there)).toBe(true);
    const stream = await there.watch();
    await here.ask('signOut');
    expect(await endOf(stream)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
    expect(refusal(await there.ask('credentials'))).toBe(OVER);
  });
});
