// The upstreams that the agent may forward to: a user of its API must not reach every host that the device reaches.

import { BlockList, isIP } from 'node:net';
import { lookUp } from '../look-up.ts';

/** The default of `AGENT_FORWARDS_TO`. */
const LOOPBACK = 'localhost, 127.0.0.0/8, ::1/128';
/** In the order in which they are tried. */
const LOCALHOST = ['127.0.0.1', '::1'];
const NAME = /^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i;

/** The metadata services of clouds, which serve secrets, and the link-local networks that they are in. */
const forbiddenAddresses = blockList(['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128']);

/** Resolves a name to its addresses. It rejects when the name cannot be resolved. */
export type Resolve = (name: string) => Promise<string[]>;

/** The list of allowed upstreams. */
export interface AllowList {
  /** The list as a text, for messages. */
  readonly text: string;
  /**
   * Resolves a host to the addresses that the caller may connect to. The caller must not resolve the name again, as the
   * result may differ by then. The list is empty when the host is not allowed; one forbidden address is enough for that.
   * @throws {Error} when the name cannot be resolved.
   */
  addresses(host: string): Promise<string[]>;
}

/**
 * Parses a list of CIDRs, addresses and names (`*.lan` for all subdomains), separated by commas. A name in the list is
 * allowed with all of its addresses, except the forbidden ones, which no entry allows.
 * @throws {Error} the expected form.
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
      // Programs listen at one of them, or at both, whatever the file of hosts says.
      if (name === 'localhost') return LOCALHOST.filter((address) => isNamed(name) || has(allowed, address));
      const addresses = (isIP(name) ? [name] : await resolve(name)).map(canonicalAddress);
      const isListed = isNamed(name);
      const isAllowed = (address: string) => !has(forbiddenAddresses, address) && (isListed || has(allowed, address));
      return addresses.length > 0 && addresses.every(isAllowed) ? addresses : [];
    },
  };
}

async function resolveName(name: string): Promise<string[]> {
  return (await lookUp(name)).map(({ address }) => address);
}

/** Makes a block list of CIDRs. @throws {Error} for an entry that is none. */
function blockList(entries: string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', length] = entry.split('/');
    const family = isIP(withoutBrackets(address));
    const maxBits = family === 4 ? 32 : 128;
    const bits = length === undefined ? maxBits : Number(length || Number.NaN);
    if (!Number.isInteger(bits) || bits < 0 || bits > maxBits)
      throw new Error(`must list CIDRs as 192.168.0.0/16; "${entry}" is not one`);
    list.addSubnet(withoutBrackets(address), bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const has = (list: BlockList, address: string) => list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** The host without the brackets of an IPv6 address in a URL. */
function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/**
 * The canonical form of an address: without its zone, and as IPv4 when it is an IPv4-mapped or NAT64 address (RFC 6052). So
 * no other notation bypasses a rule.
 */
function canonicalAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const whole = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(whole) ?? [];
  if (high === undefined || low === undefined) return whole;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((part) => [part >> 8, part & 255]).join('.');
}
