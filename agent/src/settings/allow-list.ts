// Where the agent may forward to: whoever can ask it for tunnels must not reach every host that the device reaches.

import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** What `AGENT_FORWARDS_TO` says when it is not set. */
const LOOPBACK = 'localhost, 127.0.0.0/8, ::1/128';
const NAME = /^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i;

/** Addresses that machines of clouds ask for their secrets, and the link they are on. */
const forbiddenAddresses = blockList(['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128']);

/** Gives the addresses of a name; a failure rejects. */
export type Resolve = (name: string) => Promise<string[]>;

export interface AllowList {
  /** As it was written, for messages. */
  readonly text: string;
  /**
   * The addresses of a host that may be connected to: the name is not to be resolved again, as its next answer may be
   * another. Empty when the host is not allowed: one address of it that is not is enough.
   * @throws when the name cannot be resolved.
   */
  addresses(host: string): Promise<string[]>;
}

/**
 * Reads a list of CIDRs, addresses and names (`*.lan` for those below one), separated by commas. A name in the list is
 * allowed wherever it leads, except to link-local metadata addresses, which nothing allows.
 * @throws with what would be right.
 */
export function parseAllowList(text: string, resolve: Resolve = resolveName): AllowList {
  const entries = (text.trim() || LOOPBACK).split(',').map((entry) => entry.trim().toLowerCase());
  const names = entries.filter((entry) => isIP(withoutBrackets(entry.split('/')[0] ?? '')) === 0);
  for (const name of names)
    if (!NAME.test(name)) throw new Error(`must list CIDRs, addresses and host names; "${name}" is none of them`);
  const allowed = blockList(entries.filter((entry) => !names.includes(entry)));
  const isNamed = (host: string) =>
    names.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name));

  return {
    text: entries.join(', '),
    async addresses(host) {
      const name = withoutBrackets(host.toLowerCase()).replace(/\.$/, '');
      const found = (isIP(name) ? [name] : await resolve(name)).map(canonicalAddress);
      const mayAll = isNamed(name);
      const isAllowed = (address: string) => !has(forbiddenAddresses, address) && (mayAll || has(allowed, address));
      return found.length > 0 && found.every(isAllowed) ? found : [];
    },
  };
}

async function resolveName(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** @throws at an entry that is no CIDR. */
function blockList(entries: string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', length] = entry.split('/');
    const family = isIP(withoutBrackets(address));
    const most = family === 4 ? 32 : 128;
    const bits = length === undefined ? most : Number(length || Number.NaN);
    if (!Number.isInteger(bits) || bits < 0 || bits > most)
      throw new Error(`must list CIDRs as 192.168.0.0/16; "${entry}" is not one`);
    list.addSubnet(withoutBrackets(address), bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const has = (list: BlockList, address: string) => list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Without the brackets that IPv6 addresses wear in URLs. */
function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/**
 * The address that is meant: without its zone, and IPv4 where that stands inside of IPv6 (mapped, or through NAT64), so
 * that no other spelling gets past a rule.
 */
function canonicalAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const whole = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(whole) ?? [];
  if (high === undefined || low === undefined) return whole;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((part) => [part >> 8, part & 255]).join('.');
}
