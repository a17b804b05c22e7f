// Whom proxies say that they ask for: the entries of `X-Forwarded-For`, and the `for` of `Forwarded` (RFC 7239).

import { isIP } from 'node:net';
import type { Networks } from '../net/networks.ts';
import { type PeerAddress, unmapIpv4 } from '../tunnel/network/peer.ts';

/** A `for` of `Forwarded` (RFC 7239, section 6), or an entry of `X-Forwarded-For`; both may come with a port. */
const NODE = /^"?(?:\[([\da-f:.]+)\]|([\d.]+)|([\da-f:]+(?:\d+\.\d+\.\d+\.\d+)?))(?::(\d{1,5}))?"?$/i;

/**
 * The way that a request took, as far as trusted proxies tell it: each adds whom it was asked by, so it is read from the
 * right. What is no address ends it, as nobody can say who wrote it.
 * @param entries in the order in which they were written.
 * @returns first the client, which is the last one that is no trusted proxy, then the proxies between it and the one that
 * asks us; empty when that one names nobody. A port that is not said is 0.
 */
export function forwardedChain(entries: readonly string[], proxies: Networks): PeerAddress[] {
  const way: PeerAddress[] = [];
  for (let at = entries.length - 1; at >= 0; at--) {
    const place = placeOf(entries[at] as string);
    if (!place) break;
    way.unshift(place);
    if (!proxies.has(place.ip)) break;
  }
  return way;
}

function placeOf(entry: string): PeerAddress | undefined {
  const [, bracketed, four, six, port] = NODE.exec(entry.trim()) ?? [];
  const ip = unmapIpv4(bracketed ?? four ?? six ?? '');
  return isIP(ip) === 0 ? undefined : { ip, port: Number(port ?? 0) };
}
