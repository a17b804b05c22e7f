// Which addresses the gateway connects to for its tenants: public ones, and what the operator allows besides.

import { isIP } from 'node:net';
import { type AllowedHosts, allowedHostsOf } from './host-rules.ts';
import { isOutsideAddress } from './public-addresses.ts';

/** Names that are this machine's (RFC 6761, section 6.3). */
const LOCAL_NAME = /^(?:.+\.)?localhost$/;

/** Decides over the addresses of one host. */
export type AddressRule = (address: string) => boolean;

/** The rules of the operator. Without them, public addresses are allowed that are none of this machine's. */
export class ReachableHosts {
  readonly #hosts: AllowedHosts;
  /** Whether all are allowed, and plain HTTP is, too. */
  readonly isAny: boolean;

  /** @param rules names, `*.name` and networks. A name is allowed at whatever address it has. */
  constructor(rules: readonly string[], isAny = false) {
    this.#hosts = allowedHostsOf(rules);
    this.isAny = isAny;
  }

  /** @param host a name in lower case, or an address without brackets. */
  ruleOf(host: string): AddressRule {
    const { networks, hasName } = this.#hosts;
    if (this.isAny || (isIP(host) === 0 && hasName(host))) return () => true;
    return (address) => networks.has(address) || isOutsideAddress(address);
  }

  /** Whether a host may be allowed, as far as that can be told without resolving its name. */
  mayReach(host: string): boolean {
    if (isIP(host) !== 0) return this.ruleOf(host)(host);
    return !LOCAL_NAME.test(host) || this.ruleOf(host)('127.0.0.1');
  }
}

/** Which addresses traffic policies may have the gateway ask (POLICY_FETCH), besides those that static backends may be at. */
export function hostsOfPolicies(settings: {
  policyFetch: 'public' | 'any';
  backendHosts: readonly string[];
}): ReachableHosts {
  return new ReachableHosts(settings.backendHosts, settings.policyFetch === 'any');
}
