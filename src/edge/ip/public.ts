// Which addresses are on the public Internet: whoever may name a host could have the gateway ask its neighbours otherwise.

import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networksOf } from './networks.ts';

/**
 * Where no public service is (RFC 6890): this machine, its networks, clouds' metadata, and networks that lead to other
 * addresses than they show. 168.63.129.16 is what a cloud's machines ask about themselves.
 */
const NOT_PUBLIC = networksOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/3', '::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23'],
  ...['2001:db8::/32', '2002::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]);

/** Whether it is an address of the public Internet. What is no address is none. */
export function isPublic(address: string): boolean {
  return isIP(address) !== 0 && !NOT_PUBLIC.has(address);
}

/**
 * Looks names up that must lead to allowed addresses alone: one that is not makes the look-up fail. What is checked here is
 * what is connected to. Not asked for hosts that are addresses themselves: those are to be checked before.
 * @param refusal what it fails with.
 */
export function lookupOf(isAllowed: (address: string) => boolean, refusal: (address: string) => Error): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      const stranger = error ? undefined : found.find(({ address }) => !isAllowed(address));
      if (error) callback(error, []);
      else if (stranger) callback(refusal(stranger.address), []);
      else if (options.all) callback(null, found);
      else callback(null, found[0]?.address ?? '', found[0]?.family);
    });
  };
}
