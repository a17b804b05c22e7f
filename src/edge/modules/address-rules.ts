// Whether an address is let in: the rules of IP policies, prepared.

import type { Networks } from '../../net/networks.ts';
import { networksOf } from '../../net/networks.ts';
import { SettingsError } from './settings-error.ts';

/** Networks such as `10.0.0.0/8`. Who is in none of `allow` is turned away, and who is in one of `deny`. */
export interface AddressRules {
  allow: readonly string[];
  deny: readonly string[];
}

/**
 * Prepares rules.
 * @returns the function that says why an address is turned away; undefined when it is let in.
 * @throws {SettingsError} when one of the networks is none.
 */
export function addressCheck(rules: AddressRules): (ip: string) => string | undefined {
  const allow = prepared('allow', rules.allow);
  const deny = prepared('deny', rules.deny);
  return (ip) => {
    const denied = deny.find(ip);
    if (denied) return `${ip} is in ${denied}, which is denied`;
    return allow.has(ip) ? undefined : `${ip} is in no network that is allowed`;
  };
}

function prepared(list: string, cidrs: readonly string[]): Networks {
  try {
    return networksOf(cidrs);
  } catch (error) {
    throw new SettingsError(`${list}: ${(error as Error).message}`);
  }
}
