// The IP restriction for agents: from where they may connect.

import { beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { SDK_PREFIX, sdkSession } from '../../support/agents/sdk.ts';
import { sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { done } from '../edges/support.ts';
import { addRule, HERE, NOWHERE, restrict } from './support.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

test('agents elsewhere are refused, running ones are ended, until their address is allowed', async () => {
  const account = await gateway.newAccount();
  const { authtoken } = await newCredential(account);
  const sessions = async () => (await done(account, 'GET', '/tunnel_sessions')).tunnel_sessions.length;
  await sdkSession(gateway, authtoken);
  expect(await sessions()).toBe(1);
  const { policyId } = await restrict(account, 'agent', [NOWHERE]);
  await expect.poll(sessions).toBe(0);
  await expect(sdkSession(gateway, authtoken)).rejects.toThrow(`${SDK_PREFIX}115`);
  const rule = await addRule(account, policyId, `${HERE}/32`);
  await sdkSession(gateway, authtoken);
  await expect.poll(sessions).toBeGreaterThan(0);
  await done(account, 'DELETE', rule);
  await expect.poll(sessions).toBe(0);
});

test('one that is not enforced lets agents in, and the log says whom it would refuse', async () => {
  const account = await gateway.newAccount();
  const { authtoken } = await newCredential(account);
  await restrict(account, 'agent', [NOWHERE], { enforced: false });
  await sdkSession(gateway, authtoken);
  await gateway.logged(({ accountId, type }) => accountId === account.accountId && type === 'agent');
});
