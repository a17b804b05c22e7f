// The IP restrictions for the API with keys, and for the dashboard; and how nobody locks themselves out unknowingly.

import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newBrowser, PASSWORD, refusal, signedIn, startWithDashboard } from '../../sign-in/browser.ts';
import type { Account, TestGateway } from '../../support/gateway/gateway.ts';
import { endOf, subscribe } from '../../support/gateway/sse.ts';
import { done } from '../edges/support.ts';
import { addRule, callFrom, ELSEWHERE, failureOf, HERE, NOWHERE, policyFor, restrict } from './support.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithDashboard();
});
afterAll(() => gateway.close());

const from = (ip: string, { key }: Account, path = '/credentials') => callFrom(ip, gateway.api, key, 'GET', path);
const NO_KEYS = [403, 220];

describe('for the API', () => {
  test('REST, GraphQL and downloads with keys are refused elsewhere, and the dashboard is not concerned', async () => {
    const account = await gateway.newAccount();
    const browser = await signedIn(gateway, account.key, account.ownerId);
    const { policyId } = await restrict(account, 'api', [`${HERE}/32`]);
    expect((await from(HERE, account)).status).toBe(200);
    expect(failureOf(await from(ELSEWHERE, account))).toEqual(NO_KEYS);
    expect(failureOf(await from(ELSEWHERE, account, '/export/credentials'))).toEqual(NO_KEYS);
    const query = { query: '{ credentials { totalCount } }' };
    const asked = await callFrom(ELSEWHERE, gateway.api, account.key, 'POST', '/graphql', query);
    expect(refusal(asked)).toBe('FORBIDDEN ERR_GATEWAY_220');
    expect(asked.body.errors[0].message).toContain(ELSEWHERE);
    expect((await browser.ask('credentials')).body.errors).toBeUndefined();
    await addRule(account, policyId, `${ELSEWHERE}/32`);
    expect((await from(ELSEWHERE, account)).status).toBe(200);
  });

  test('a subscription ends once its address is refused', async () => {
    const account = await gateway.newAccount();
    const stream = await subscribe(gateway.api, account.key, 'subscription { credentialChanged { action } }');
    const browser = await signedIn(gateway, account.key, account.ownerId);
    await restrict(account, 'api', [`${HERE}/32`]);
    const rules = await done(account, 'GET', '/ip_policy_rules');
    // Somebody else changes it, from where the API is not asked.
    await gateway.app.prisma.ipPolicyRule.update({
      where: { id: rules.ip_policy_rules[0].id },
      data: { cidr: NOWHERE },
    });
    await gateway.app.restrictions.refresh(account.accountId);
    expect(await endOf(stream)).toBe('UNAVAILABLE ERR_GATEWAY_90304');
    expect((await browser.ask('viewer')).body.data.viewer).not.toBeNull();
  });

  test('one that is not enforced lets everybody in', async () => {
    const account = await gateway.newAccount();
    await restrict(account, 'api', [NOWHERE], { enforced: false });
    expect((await from(ELSEWHERE, account)).status).toBe(200);
    await gateway.logged(
      ({ accountId, type, ip }) => accountId === account.accountId && type === 'api' && ip === ELSEWHERE,
    );
  });
});

describe('for the dashboard', () => {
  test('browser sessions and sign-ins are refused elsewhere, and API keys are not', async () => {
    const account = await gateway.newAccount();
    await gateway.app.prisma.owner.update({
      where: { id: account.ownerId },
      data: { subject: 'restricted@example.com' },
    });
    const browser = await signedIn(gateway, account.key, account.ownerId);
    await restrict(account, 'dashboard', [`${HERE}/32`]);
    expect((await browser.ask('credentials')).body.errors).toBeUndefined();
    const agent = new Agent({ localAddress: ELSEWHERE });
    browser.agent = agent;
    expect(refusal(await browser.ask('credentials'))).toBe('FORBIDDEN ERR_GATEWAY_1212');
    const other = Object.assign(newBrowser(gateway.api), { agent });
    expect(refusal(await other.signIn('restricted@example.com', PASSWORD))).toBe('FORBIDDEN ERR_GATEWAY_1212');
    expect((await newBrowser(gateway.api).signIn('restricted@example.com', PASSWORD)).body.errors).toBeUndefined();
    expect((await from(ELSEWHERE, account)).status).toBe(200);
  });
});

describe('who would lock themselves out', () => {
  const LOCKED_OUT = [400, 90396];

  test.each(['api', 'dashboard'])('cannot create or enforce a restriction for %s', async (type) => {
    const account = await gateway.newAccount();
    const ip_policy_ids = [await policyFor(account, NOWHERE)];
    const body = { type, enforced: true, ip_policy_ids };
    const refused = await account.call('POST', '/ip_restrictions', body);
    expect(failureOf(refused)).toEqual(LOCKED_OUT);
    expect(refused.body.msg).toContain(`${HERE}/32`);
    expect((await done(account, 'GET', '/ip_restrictions')).ip_restrictions).toEqual([]);
    const { id } = await done(account, 'POST', '/ip_restrictions', { ...body, enforced: false });
    expect(failureOf(await account.call('PATCH', `/ip_restrictions/${id}`, { enforced: true }))).toEqual(LOCKED_OUT);
    await addRule(account, ip_policy_ids[0] as string, `${HERE}/32`);
    expect((await done(account, 'PATCH', `/ip_restrictions/${id}`, { enforced: true })).enforced).toBe(true);
    const others = [await policyFor(account, NOWHERE)];
    expect(failureOf(await account.call('PATCH', `/ip_restrictions/${id}`, { ip_policy_ids: others }))).toEqual(
      LOCKED_OUT,
    );
  });

  test('cannot change the rules of its IP policies so, but may elsewhere', async () => {
    const account = await gateway.newAccount();
    const policyId = await policyFor(account);
    const rule = await addRule(account, policyId, `${HERE}/32`);
    const body = { type: 'api', enforced: true, ip_policy_ids: [policyId] };
    await done(account, 'POST', '/ip_restrictions', body);
    const deny = { ip_policy_id: policyId, cidr: '127.0.0.0/8', action: 'deny' };
    expect(failureOf(await account.call('POST', '/ip_policy_rules', deny))).toEqual(LOCKED_OUT);
    expect(failureOf(await account.call('PATCH', rule, { cidr: NOWHERE }))).toEqual(LOCKED_OUT);
    expect(failureOf(await account.call('DELETE', rule))).toEqual(LOCKED_OUT);
    expect((await from(HERE, account)).status).toBe(200);
    const other = await addRule(account, await policyFor(account), `${HERE}/32`);
    await done(account, 'DELETE', other);
  });

  test('may restrict agents and visitors, and an IP policy in use is not deleted', async () => {
    const account = await gateway.newAccount();
    const { policyId, at } = await restrict(account, 'agent', [NOWHERE]);
    await done(account, 'POST', '/ip_restrictions', { type: 'endpoints', enforced: true, ip_policy_ids: [policyId] });
    expect(failureOf(await account.call('DELETE', `/ip_policies/${policyId}`))).toEqual([409, 1420]);
    const again = await account.call('POST', '/ip_restrictions', { type: 'agent', ip_policy_ids: [policyId] });
    expect(failureOf(again)).toEqual([409, 1802]);
    await done(account, 'DELETE', at);
  });
});
