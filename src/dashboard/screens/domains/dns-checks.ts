// Whether the DNS is right for the domains of a list. Each check may take seconds, so that few are under way at once, and
// only for rows that are looked at.

import { signal } from '@preact/signals';
import { execute, toApiFailure } from '../../data/client/client.ts';
import { CheckDomain } from '../../generated/operations.ts';

/** Browsers grant six connections per gateway: most are for others. */
const MAX_CONCURRENT_CHECKS = 2;
/** How long an answer is taken for true. */
const MAX_AGE_MS = 60_000;

export interface DnsResult {
  isReady: boolean;
  message: string;
}

/** By the ids of domains; undefined as long as nothing is known. */
export const dnsResults = signal<ReadonlyMap<string, DnsResult>>(new Map());

const checkedAt = new Map<string, number>();
const queue: string[] = [];
let running = 0;

/** Has domains checked that weren't lately. Those that are no longer looked at are forgotten. */
export function queueDnsChecks(ids: readonly string[]): void {
  const due = ids.filter((id) => Date.now() - (checkedAt.get(id) ?? Number.NEGATIVE_INFINITY) > MAX_AGE_MS);
  queue.splice(0, queue.length, ...due);
  while (running < MAX_CONCURRENT_CHECKS && queue.length > 0) void checkNext();
}

/** What a page of its own has learnt. */
export function storeDnsResult(id: string, state: DnsResult): void {
  checkedAt.set(id, Date.now());
  dnsResults.value = new Map(dnsResults.value).set(id, state);
}

async function checkNext(): Promise<void> {
  const id = queue.shift();
  if (id === undefined) return;
  running += 1;
  checkedAt.set(id, Date.now());
  try {
    const { checkReservedDomain: check } = await execute(CheckDomain, { id });
    if (check) storeDnsResult(id, check);
  } catch (error) {
    storeDnsResult(id, { isReady: false, message: toApiFailure(error).message });
  } finally {
    running -= 1;
    void checkNext();
  }
}
