// Functions on IP addresses.

import { type CelFunc, celFunc, celMethod } from '@bufbuild/cel';
import { LRUCache } from 'lru-cache';
import { type Networks, networksOf, readCidr } from '../../../net/networks.ts';
import { spend } from '../cost-budget.ts';
import { BOOL, LIST, STRING } from '../types.ts';

/** The private networks of RFC 1918. */
const PRIVATE = networksOf(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']);

const NONE = networksOf([]);
const prepared = new LRUCache<string, Networks>({ max: 1_000 });

/** Whether an address is in a network; false for an invalid network. */
function inNetwork(ip: string, cidr: string): boolean {
  spend(1);
  if (cidr.length > 64) return false;
  let networks = prepared.get(cidr);
  if (!networks) {
    networks = readCidr(cidr) ? networksOf([cidr]) : NONE;
    prepared.set(cidr, networks);
  }
  return networks.has(ip);
}

export const NETWORK_FUNCTIONS: CelFunc[] = [
  celFunc('inCidrRange', [STRING, STRING], BOOL, inNetwork),
  celFunc('inCidrRanges', [STRING, LIST], BOOL, (ip, cidrs) => {
    for (const cidr of cidrs) if (typeof cidr === 'string' && inNetwork(ip, cidr)) return true;
    return false;
  }),
  celMethod('isPrivateIp', STRING, [], BOOL, function () {
    return PRIVATE.has(this);
  }),
];
