// Which addresses are on the public Internet: whoever may name a host could have the gateway ask its neighbours otherwise.

import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { networksOf } from './networks.ts';

/**
 * Where no public service is: IANA's registries of special-purpose addresses of IPv4 and IPv6 (RFC 6890), as of 2025-10, and
 * multicast. They hold this machine, its networks, clouds' metadata, and what leads to other addresses than it shows (NAT64,
 * IPv4-translated, 6to4, Teredo). 168.63.129.16 is what a cloud's machines ask about themselves. Of IPv6, only 2000::/3 has
 * ever been given out for the public.
 */
const NOT_PUBLIC = networksOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  ...['::/3', '4000::/2', '8000::/1'],
  ...['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'],
]);

/** Whether it is an address of the public Internet. What is no address is none. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && !NOT_PUBLIC.has(address);
}

/**
 * Whether tenants may have the gateway ask it: it is public, and none of this machine's own. What listens at those may be closed to
 * others, and the gateway itself is there.
 * @param own the addresses of this machine.
 */
export function isOutsideAddress(address: string, own = ownAddresses()): boolean {
  return isPublicAddress(address) && !networksOf(own).has(address);
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((one) => one?.map((at) => at.address) ?? []);
}

/** Finds all addresses of a name. */
export type ResolveHost = (
  hostname: string,
  options: LookupAllOptions,
  found: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Looks names up that must lead to allowed addresses alone: one that is not makes the look-up fail. What is checked here is
 * what is connected to. Not asked for hosts that are addresses themselves: those are to be checked before.
 * @param refusal what it fails with.
 * @param resolve who knows the addresses; the system when left out.
 */
export function guardedLookup(
  isAllowed: (address: string) => boolean,
  refusal: (address: string) => Error,
  resolve: ResolveHost = lookup,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const stranger = error ? undefined : found.find(({ address }) => !isAllowed(address));
      if (error) callback(error, []);
      else if (stranger) callback(refusal(stranger.address), []);
      else if (options.all) callback(null, found);
      else callback(null, found[0]?.address ?? '', found[0]?.family);
    });
  };
}
