// IP restrictions of accounts for tests, whose callers and visitors come from addresses of 127.0.0.0/8.

import { Agent } from 'node:http';
import type { Owner } from '../../support/gateway/gateway.ts';
import { type Answer, send } from '../../support/gateway/http.ts';
import { done } from '../edges/support.ts';

/** Where tests come from unless they say otherwise, and another address of this machine. */
export const HERE = '127.0.0.1';
export const ELSEWHERE = '127.0.0.2';
/** A network in which nobody is (RFC 5737). */
export const NOWHERE = '192.0.2.0/24';

type Party = Pick<Owner, 'call'>;

/** Adds a rule to an IP policy. @returns its path. */
export async function addRule(owner: Party, policyId: string, cidr: string, action = 'allow'): Promise<string> {
  const { id } = await done(owner, 'POST', '/ip_policy_rules', { ip_policy_id: policyId, cidr, action });
  return `/ip_policy_rules/${id}`;
}

/** An IP policy that allows these networks. @returns its id. */
export async function policyFor(owner: Party, ...cidrs: string[]): Promise<string> {
  const { id } = await done(owner, 'POST', '/ip_policies', {});
  for (const cidr of cidrs) await addRule(owner, id, cidr);
  return id;
}

/** Restricts an account to some networks. @returns the path of the restriction, and the id of its IP policy. */
export async function restrict(owner: Party, type: string, cidrs: string[], more: object = {}) {
  const policyId = await policyFor(owner, ...cidrs);
  const body = { type, enforced: true, ip_policy_ids: [policyId], ...more };
  return { at: `/ip_restrictions/${(await done(owner, 'POST', '/ip_restrictions', body)).id}`, policyId };
}

/** Calls the API with a key from an address of this machine. */
export function callFrom(ip: string, api: string, key: string, method: string, path: string, body?: object) {
  const headers = {
    authorization: `Bearer ${key}`,
    'service-version': '2',
    ...(body && { 'content-type': 'application/json' }),
  };
  const agent = new Agent({ localAddress: ip });
  return send(agent, method, api + path, headers, body && JSON.stringify(body));
}

/** The status and the number of the error of an answer. */
export const failureOf = ({ status, body }: Answer) => [status, Number(body.error_code?.split('_').at(-1))];
