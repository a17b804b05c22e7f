// Which addresses the gateway connects to for its tenants: public ones, and what the operator allows besides.

import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type AllowedHosts, allowedHostsOf } from './host-rules.ts';
import { networksOf } from './networks.ts';
import { isPublicAddress } from './public-addresses.ts';

/** Decides over the addresses of one host. */
export type AddressRule = (address: string) => boolean;

/**
 * The rules of the operator. Without them, public addresses are allowed that are none of this machine: what listens at those may
 * be closed to others, and the gateway itself is there.
 */
export class ReachableHosts {
  readonly #hosts: AllowedHosts;

  /** @param rules names, `*.name` and networks. A name is allowed at whatever address it has. */
  constructor(rules: readonly string[]) {
    this.#hosts = allowedHostsOf(rules);
  }

  /** @param host a name in lower case, or an address without brackets. */
  ruleOf(host: string): AddressRule {
    const { networks, hasName } = this.#hosts;
    if (isIP(host) === 0 && hasName(host)) return () => true;
    return (address) => networks.has(address) || (isPublicAddress(address) && !isOwnAddress(address));
  }

  /** Whether a host may be allowed, as far as that can be told without resolving its name. */
  mayReach(host: string): boolean {
    return isIP(host) === 0 || this.ruleOf(host)(host);
  }
}

/** Whether the address is one of this machine, however it is written. */
function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((one) => one?.map((at) => at.address) ?? []);
  return networksOf(own).has(address);
}
