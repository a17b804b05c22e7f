// Look-ups of names that are under way: who asks for the same one waits for the same answer, so that a name whose servers do not
// answer takes one thread of the resolver, however many visitors want to go there.

import { type LookupAddress, lookup } from 'node:dns';
import type { ResolveHost } from '../../net/public-addresses.ts';

type Found = Parameters<ResolveHost>[2];

/** Asks `resolve`, the system when left out, once at a time for each name; for addresses of both families. */
export function sharedLookups(resolve: ResolveHost = lookup): ResolveHost {
  const waiting = new Map<string, Found[]>();
  return (hostname, _options, found) => {
    const others = waiting.get(hostname);
    if (others) return void others.push(found);
    const all = [found];
    waiting.set(hostname, all);
    resolve(hostname, { all: true }, (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => {
      waiting.delete(hostname);
      for (const one of all) one(error, addresses);
    });
  };
}
