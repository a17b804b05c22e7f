// Destinations, subscriptions and changes of one account, made as a tenant makes them.

import { expect } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import type { Owner, TestGateway } from '../gateway/gateway.ts';

export type Caller = Pick<Owner, 'call'>;

export const webhookAt = (url: string) => ({ webhook: { url, signing_secret: 'not-shorter-than-16-bytes' } });

/** @returns its id. */
export async function newDestination({ call }: Caller, url: string): Promise<string> {
  const { status, text, body } = await call('POST', '/event_destinations', { target: webhookAt(url) });
  expect(status, text).toBe(201);
  return body.id;
}

/** To audit events of some types; of new IP policies unless told otherwise. @returns its id. */
export async function subscribeTo(
  { call }: Caller,
  destinationIds: readonly string[],
  types: readonly string[] = ['ip_policy_created.v0'],
): Promise<string> {
  const sources = types.map((type) => ({ type }));
  const { status, text, body } = await call('POST', '/event_subscriptions', {
    sources,
    destination_ids: destinationIds,
  });
  expect(status, text).toBe(201);
  return body.id;
}

/** A change that has one event, which bears its number. */
export async function change({ call }: Caller, n: number): Promise<void> {
  const { status, text } = await call('POST', '/ip_policies', { description: String(n) });
  expect(status, text).toBe(201);
}

/** Changes one after the other. */
export async function changeAll(account: Caller, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) await change(account, n);
}

/** One change with very many events, which bear their numbers: a policy is deleted, and its rules with it. */
export async function changeAtOnce({ app }: Pick<TestGateway, 'app'>, account: Owner, count: number): Promise<void> {
  const { body } = await account.call('POST', '/ip_policies', { description: 'with rules' });
  const { accountId } = account;
  const ids = upTo(count).map(() => newId('ipr'));
  const data = ids.sort().map((id, n) => {
    const cidr = `10.0.${n >> 8}.${n & 255}/32`;
    return { id, accountId, policyId: body.id, cidr, action: 'DENY' as const, description: String(n) };
  });
  await app.prisma.ipPolicyRule.createMany({ data });
  expect((await account.call('DELETE', `/ip_policies/${body.id}`)).status).toBe(204);
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
export async function deliveryOf({ call }: Caller, id: string): Promise<any> {
  const { status, text, body } = await call('GET', `/event_destinations/${id}/delivery`);
  expect(status, text).toBe(200);
  return body;
}

/** The numbers below another one, in order. */
export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
