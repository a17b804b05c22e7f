// DNS checks for the domains of a list. A check may take seconds, so only visible rows are checked, and few at a time.

import { signal } from '@preact/signals';
import { execute, toApiFailure } from '../../data/client/client.ts';
import { CheckDomain } from '../../generated/operations.ts';

/** Browsers allow six connections to the gateway; the others stay free for other requests. */
const MAX_CONCURRENT_CHECKS = 2;
/** How long a result counts as current. */
const MAX_AGE_MS = 60_000;

export interface DnsResult {
  isReady: boolean;
  message: string;
}

/** The results by the ids of domains. */
export const dnsResults = signal<ReadonlyMap<string, DnsResult>>(new Map());

const checkedAt = new Map<string, number>();
const queue: string[] = [];
let running = 0;

/** Queues checks of domains without a current result, in place of those that were queued before. */
export function queueDnsChecks(ids: readonly string[]): void {
  const due = ids.filter((id) => Date.now() - (checkedAt.get(id) ?? Number.NEGATIVE_INFINITY) > MAX_AGE_MS);
  queue.splice(0, queue.length, ...due);
  while (running < MAX_CONCURRENT_CHECKS && queue.length > 0) void checkNext();
}

/** Stores a result that a domain's own page got. */
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
