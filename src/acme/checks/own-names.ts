// Whether the DNS leads to the gateway for names of its own.

import type { CheckedRecord } from '../jobs/job.ts';
import { type Dns, DnsFailure } from './dns.ts';

/** @param name no wildcard. @param wanted the addresses of the gateway as seen from outside (PUBLIC_ADDRESSES); none: any will do. */
export async function checkOwnName(dns: Dns, name: string, wanted: readonly string[]): Promise<CheckedRecord> {
  const expected = wanted.join(', ') || 'an address of this gateway';
  const record = { name, type: wanted.some((one) => one.includes(':')) ? 'A, AAAA' : 'A', expected };
  try {
    const found = await dns.addresses(name);
    if (found.length === 0)
      return { ...record, found, state: 'MISSING', message: `${name} has no address yet; it must have ${expected}.` };
    const strangers = wanted.length === 0 ? [] : found.filter((one) => !wanted.includes(one));
    if (strangers.length === 0)
      return { ...record, found, state: 'OK', message: `${name} leads to ${found.join(', ')}.` };
    return {
      ...record,
      found,
      state: 'WRONG',
      message: `${name} leads to ${strangers.join(', ')}; it must lead to ${expected} (PUBLIC_ADDRESSES) only.`,
    };
  } catch (error) {
    if (!(error instanceof DnsFailure)) throw error;
    return { ...record, found: [], state: 'UNKNOWN', message: `${name} could not be looked up: ${error.message}.` };
  }
}

/** The record by which the gateway can show that it controls all names below one. @param target where its challenges are published. */
export async function checkOwnChallenge(dns: Dns, wildcard: string, target: string): Promise<CheckedRecord> {
  const name = `_acme-challenge.${wildcard.slice(2)}`;
  const record = { name, type: 'CNAME', expected: target };
  try {
    const found = await dns.cnames(name);
    if (found.includes(target)) return { ...record, found, state: 'OK', message: `${name} leads to ${target}.` };
    const state = found.length === 0 ? 'MISSING' : 'WRONG';
    const is = found.length === 0 ? 'is not there yet' : `leads to ${found.join(', ')}`;
    return {
      ...record,
      found,
      state,
      message: `${name} ${is}; it must lead to ${target}, or the name servers of the gateway must serve ${wildcard.slice(2)} (DNS_SERVE_BASE_DOMAIN).`,
    };
  } catch (error) {
    if (!(error instanceof DnsFailure)) throw error;
    return { ...record, found: [], state: 'UNKNOWN', message: `${name} could not be looked up: ${error.message}.` };
  }
}
