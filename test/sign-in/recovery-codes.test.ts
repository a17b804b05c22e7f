// Recovery codes sign in when the app is lost: who has few left asks for others.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';
import { turnOnSecondFactor } from './authenticator.ts';
import { newBrowser, PASSWORD, refusal, signedIn, startWithDashboard } from './browser.ts';

const WRONG = 'BAD_USER_INPUT ERR_GATEWAY_90227';
const NONE = 'CONFLICT ERR_GATEWAY_90229';

let gateway: TestGateway;
let account: Account;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard({ PUBLIC_API_URL: 'https://gateway.example' }, { now: () => time });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

test('other recovery codes take the place of those of before, for the password and a code', async () => {
  const { ownerId: userId } = await account.addOwner();
  const email = `${userId}@example.com`.toLowerCase();
  await gateway.app.prisma.owner.update({ where: { id: userId }, data: { subject: email } });
  const browser = await signedIn(gateway, account.key, userId);
  const signIn = (code: string) => newBrowser(gateway.api).signIn(email, PASSWORD, code);
  const replace = (code: string, password = PASSWORD) =>
    browser.ask('replaceRecoveryCodes', { input: { password, code } });

  expect(refusal(await replace('000000'))).toBe(NONE);
  const { codeAt, recoveryCodes } = await turnOnSecondFactor(browser, () => time);
  time += 60_000;
  const [spent = '', left = ''] = recoveryCodes;
  expect(refusal(await replace(spent, 'not the right password'))).toBe('BAD_USER_INPUT ERR_GATEWAY_90211');
  expect(refusal(await replace('000000'))).toBe(WRONG);
  const [other = '', ...more]: string[] = (await replace(spent)).body.data.replaceRecoveryCodes.recoveryCodes;
  expect(new Set([...recoveryCodes, other, ...more]).size).toBe(20);
  expect((await browser.ask('secondFactor')).body.data.viewer).toEqual({
    hasSecondFactor: true,
    recoveryCodesLeft: 10,
  });
  expect(refusal(await signIn(left))).toBe(WRONG);
  expect((await signIn(other)).body.errors).toBeUndefined();
  expect((await signIn(codeAt(0))).body.errors).toBeUndefined();

  const query = 'query ($id: ID!) { objectHistory(id: $id) { nodes { action actorId after } } }';
  const { nodes } = (await account.graphql(query, { id: userId })).body.data.objectHistory;
  expect(nodes.find(({ action }: { action: string }) => action === 'RECOVERY_CODES_REPLACED')).toMatchObject({
    actorId: userId,
    after: { by: 'recovery code' },
  });
});
