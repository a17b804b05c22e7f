// The networks that clients are told apart by. Whoever has one address of such a network can usually send from all of them.

import { readCidr } from '../net/networks.ts';

/** The key of the /24 or /56 that an address is in; IPv4 in IPv6 is IPv4. */
export function clientNetwork(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+)\.\d+$/.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [ip = ''] = address.split('%', 1); // Link-local addresses come with their interface.
  return readCidr(`${ip}/56`)?.base ?? address;
}
