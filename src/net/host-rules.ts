// Rules of the operator about hosts: names, names below a name (`*.example.com`), and networks.

import { isIP } from 'node:net';
import { type Networks, networksOf, readCidr } from './networks.ts';

/** The rules, separated into names and networks. */
export interface AllowedHosts {
  /** Whether a rule allows this name, by itself or by a wildcard. */
  hasName(host: string): boolean;
  /** Whether any rule is a network. If so, names without a rule can be allowed by their addresses. */
  readonly hasNetworks: boolean;
  readonly networks: Networks;
}

/** Hosts can have other characters, such as `*`, which must not match a wildcard. */
const NAME = /^[\w-]+(\.[\w-]+)+$/;

/** Whether it is a name, `*.name`, or a network. */
export function isHostRule(text: string): boolean {
  return (
    readCidr(text) !== undefined ||
    /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text)
  );
}

export function allowedHostsOf(rules: readonly string[]): AllowedHosts {
  const names = new Set<string>();
  const above: string[] = [];
  const cidrs: string[] = [];
  for (const rule of rules) {
    if (isIP(rule.split('/', 1)[0] as string)) cidrs.push(rule);
    else if (rule.startsWith('*.')) above.push(rule.slice(1));
    else names.add(rule);
  }
  return {
    hasName: (host) => names.has(host) || (NAME.test(host) && above.some((suffix) => host.endsWith(suffix))),
    hasNetworks: cidrs.length > 0,
    networks: networksOf(cidrs),
  };
}
