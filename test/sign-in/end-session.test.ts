// A single browser session is ended: by its user, or by an admin.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Account, Owner, TestGateway } from '../support/gateway/gateway.ts';
import { endOf } from '../support/gateway/sse.ts';
import { isSignedIn, refusal, sessionsOf, signedIn, signedInAgain, startWithDashboard } from './browser.ts';

const OVER = 'UNAUTHENTICATED ERR_GATEWAY_90200';
const NONE = 'NOT_FOUND ERR_GATEWAY_90020';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startWithDashboard();
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

const signIn = (user: Owner) => signedIn(gateway, account.key, user.ownerId);

test('a user ends one session of several, with its streams; the others go on', async () => {
  const user = await account.addOwner();
  const one = await signIn(user);
  const other = await signedInAgain(gateway, user);
  const [ofOne, ofOther] = [await one.watch(), await other.watch()];
  const id = (await sessionsOf(one)).find(({ isThis }: { isThis: boolean }) => !isThis)?.id;
  const answer = await one.ask('endSession', { id });
  expect(answer.body).toEqual({ data: { endBrowserSession: { endedBrowserSessionId: id } } });
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(await endOf(ofOther)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
  expect(refusal(await other.ask('credentials'))).toBe(OVER);
  await one.ask('createCredential');
  expect((await ofOne.next()).data.credentialChanged.action).toBe('CREATED');
  ofOne.close();
  expect(refusal(await one.ask('endSession', { id }))).toBe(NONE);
  const [{ id: own }] = await sessionsOf(one);
  expect((await one.ask('endSession', { id: own })).headers['set-cookie']?.[0]).toContain('Max-Age=0');
  expect(await isSignedIn(one)).toBe(false);
});

test('an admin ends one session of a user; a member ends none of another’s, and nobody one of another account', async () => {
  const [user, member, chief] = [
    await account.addOwner(),
    await account.addOwner(),
    await account.addOwner({ role: 'ADMIN' }),
  ];
  const browser = await signIn(user);
  const [{ id }] = await sessionsOf(browser);
  const foreign = await gateway.newAccount();
  for (const stranger of [await signIn(member), await signedIn(gateway, foreign.key, foreign.ownerId)])
    expect(refusal(await stranger.ask('endSession', { id }))).toBe(NONE);
  const admin = await signIn(chief);
  for (const wrong of ['bs_nonsense', 'a\0', '', user.ownerId])
    expect(refusal(await admin.ask('endSession', { id: wrong }))).toBe(NONE);
  expect(await isSignedIn(browser)).toBe(true);
  expect((await admin.ask('endSession', { id })).body.data.endBrowserSession.endedBrowserSessionId).toBe(id);
  expect(await isSignedIn(browser)).toBe(false);
  expect(await isSignedIn(admin)).toBe(true);
});
