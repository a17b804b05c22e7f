// What is told of sign-ins and of what is done in a browser: in the audit trail, and in events.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { waiting } from '../events/waiting.ts';
import type { Account, Owner, TestGateway } from '../support/gateway/gateway.ts';
import { newBrowser, refusal, signedIn, signedInAgain, startWithDashboard } from './browser.ts';

let gateway: TestGateway;
let account: Account;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard({}, { now: () => time });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

const signIn = (user: Owner) => signedIn(gateway, account.key, user.ownerId);
const another = (user: Owner) => signedInAgain(gateway, user);

test('the audit trail tells of sign-ins, wrong passwords at most five times a minute, passwords and ended sessions', async () => {
  const user = await account.addOwner();
  const browser = await signIn(user);
  await another(user);
  const email = `${user.ownerId}@example.com`.toLowerCase();
  for (let i = 0; i < 8; i++) {
    const stranger = newBrowser(gateway.api);
    expect(refusal(await stranger.signIn(email, 'a wrong password'))).toBeTruthy();
    time += 9 * 1000; // After five failures each has to wait.
  }
  await browser.ask('signOut');
  await account.graphql('mutation ($id: ID) { signOutEverywhere(userId: $id) { endedSessions } }', {
    id: user.ownerId,
  });
  const query = `query ($id: ID!) { objectHistory(id: $id) { nodes {
    action source actorId actorSubject credentialId ip userAgent objectName after } } }`;
  const told = async () => (await account.graphql(query, { id: user.ownerId })).body.data.objectHistory.nodes;
  await expect
    .poll(async () => (await told()).map(({ action }: { action: string }) => action), { interval: 500 })
    .toEqual([
      'SESSIONS_ENDED',
      'SIGNED_OUT',
      ...Array.from({ length: 6 }, () => 'SIGN_IN_FAILED'),
      'SIGNED_IN',
      'SIGNED_IN',
      'PASSWORD_SET',
      'SIGN_IN_LINK_CREATED',
    ]);
  const [ended, signedOut, failed, ...rest] = await told();
  const [again, first, password, link] = rest.slice(5);
  const from = { ip: '127.0.0.1', userAgent: 'a browser of these tests' };
  expect(ended).toMatchObject({
    source: 'API',
    actorId: account.ownerId,
    after: { session_ids: [again.credentialId] },
  });
  expect(signedOut).toMatchObject({ source: 'DASHBOARD', actorId: user.ownerId, credentialId: first.credentialId });
  expect(failed).toMatchObject({ ...from, actorId: null, actorSubject: '', objectName: email, credentialId: null });
  expect(failed.after).toEqual({ by: 'password', at: 'sign-in', not_recorded_before: 2 });
  expect(again).toMatchObject({ ...from, actorId: user.ownerId, actorSubject: email, after: { by: 'password' } });
  expect(first).toMatchObject({ ...from, source: 'DASHBOARD', after: { by: 'link' } });
  expect(password).toMatchObject({ actorId: user.ownerId, after: { by: 'link' } });
  expect(link).toMatchObject({ source: 'API', actorId: account.ownerId, after: null });
  expect(JSON.stringify([ended, signedOut, failed, again, first, password, link])).not.toContain('wrong password');
});

test('what is done in a browser is told in events as done in the dashboard, by no key', async () => {
  const { events } = await waiting(gateway, account, ['tunnel_credential_created.v0', 'user_updated.v0']);
  const user = await account.addOwner({ role: 'ADMIN' });
  const browser = await signIn(user);
  const { body } = await browser.ask('createCredential');
  expect(body.errors).toBeUndefined();
  const { subject } = await gateway.app.prisma.owner.findUniqueOrThrow({ where: { id: user.ownerId } });
  const told = await events();
  // Signing in is no change of the user.
  expect(told.map((event) => event.event_type)).toEqual(['tunnel_credential_created.v0']);
  expect(told[0]?.principal).toEqual({ id: user.ownerId, subject, source: 'Dashboard', credential: null });
});
