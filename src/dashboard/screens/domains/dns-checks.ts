// Whether the DNS is right for the domains of a list. Each check may take seconds, so that few are under way at once, and
// only for rows that are looked at.

import { signal } from '@preact/signals';
import { execute, toApiFailure } from '../../data/client/client.ts';
import { CheckDomain } from '../../generated/operations.ts';

/** Browsers grant six connections per gateway: most are for others. */
const AT_ONCE = 2;
/** How long an answer is taken for true. */
const FRESH_MS = 60_000;

export interface DnsState {
  isReady: boolean;
  message: string;
}

/** By the ids of domains; undefined as long as nothing is known. */
export const dnsStates = signal<ReadonlyMap<string, DnsState>>(new Map());

const askedAt = new Map<string, number>();
const waiting: string[] = [];
let underWay = 0;

/** Has domains checked that weren't lately. Those that are no longer looked at are forgotten. */
export function checkSoon(ids: readonly string[]): void {
  const due = ids.filter((id) => Date.now() - (askedAt.get(id) ?? Number.NEGATIVE_INFINITY) > FRESH_MS);
  waiting.splice(0, waiting.length, ...due);
  while (underWay < AT_ONCE && waiting.length > 0) void checkNext();
}

/** What a page of its own has learnt. */
export function learn(id: string, state: DnsState): void {
  askedAt.set(id, Date.now());
  dnsStates.value = new Map(dnsStates.value).set(id, state);
}

async function checkNext(): Promise<void> {
  const id = waiting.shift();
  if (id === undefined) return;
  underWay += 1;
  askedAt.set(id, Date.now());
  try {
    const { checkReservedDomain: check } = await execute(CheckDomain, { id });
    if (check) learn(id, check);
  } catch (error) {
    learn(id, { isReady: false, message: toApiFailure(error).message });
  } finally {
    underWay -= 1;
    void checkNext();
  }
}
