// Networks of IP addresses: reading them, and telling fast which of many an address is in. Node's BlockList tells only whether an
// address is in one of its networks, and refusals name the network.

import { isIP } from 'node:net';

export interface Cidr {
  readonly family: 4 | 6;
  /** The lowest address. */
  readonly base: string;
  /** How many bits all its addresses begin with. */
  readonly prefix: number;
  /** As it is usually written: `base/prefix`. */
  readonly canonical: string;
}

/**
 * Reads a network such as `10.0.0.0/8`. An address alone is a network of one; bits behind the prefix are ignored. IPv4
 * written as IPv6 (`::ffff:10.0.0.0/104`) is IPv4.
 * @returns undefined when it is none.
 */
export function readCidr(text: string): Cidr | undefined {
  const network = parse(text);
  if (!network) return undefined;
  const base = addressOf(network.words);
  const family = network.words.length === 2 ? 4 : 6;
  return { family, base, prefix: network.prefix, canonical: `${base}/${network.prefix}` };
}

/** Which networks an address is in. Anything that is no address is in none. */
export interface Networks {
  has(ip: string): boolean;
  /** The smallest network that has the address, in its canonical form. */
  find(ip: string): string | undefined;
}

/**
 * Prepares any number of networks, of both families.
 * @throws {RangeError} when one of them is none.
 */
export function networksOf(cidrs: readonly string[]): Networks {
  const four: AddressRange[] = [];
  const six: AddressRange[] = [];
  for (const text of cidrs) {
    const network = parse(text);
    if (!network) throw new RangeError(`"${text}" is no network: it must be like 10.0.0.0/8 or 2001:db8::/32`);
    const { words, prefix } = network;
    const last = words.map((word, i) => word | (~maskOf(i, prefix) & 0xffff));
    const range = { first: keyOf(words), last: keyOf(last), within: undefined, text: `${addressOf(words)}/${prefix}` };
    (words.length === 2 ? four : six).push(range);
  }
  const v4 = nested(four);
  const v6 = nested(six);
  const find = (ip: string) => {
    const words = addressWords(ip);
    return words && search(words.length === 2 ? v4 : v6, keyOf(words))?.text;
  };
  return { find, has: (ip) => find(ip) !== undefined };
}

/** Addresses from `first` to `last`, as texts of one character for 16 bits: texts compare as the addresses do. */
interface AddressRange {
  first: string;
  last: string;
  /** The next larger network that it is in. */
  within: AddressRange | undefined;
  text: string;
}

/** Sorts networks, the outer before the inner, and joins each with the one around it: two never overlap otherwise. */
function nested(ranges: AddressRange[]): readonly AddressRange[] {
  ranges.sort((a, b) => compare(a.first, b.first) || compare(b.last, a.last));
  let outer: AddressRange | undefined;
  for (const range of ranges) {
    while (outer && outer.last < range.first) outer = outer.within;
    range.within = outer;
    outer = range;
  }
  return ranges;
}

/** What begins last before the address has it, or something around it has, or nothing. */
function search(ranges: readonly AddressRange[], key: string): AddressRange | undefined {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as AddressRange).first <= key) low = middle + 1;
    else high = middle;
  }
  let range = ranges[low - 1];
  while (range && range.last < key) range = range.within;
  return range;
}

function parse(text: string): { words: number[]; prefix: number } | undefined {
  const [, ip = '', bits] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const family = isIP(ip);
  const words = addressWords(ip);
  if (!words) return undefined;
  const max = family === 4 ? 32 : 128;
  const stated = bits === undefined ? max : Number(bits);
  const prefix = family === 6 && words.length === 2 ? stated - 96 : stated;
  // A network around all of IPv4 as IPv6 has more in it than that.
  if (stated > max || prefix < 0) return undefined;
  return { words: words.map((word, i) => word & maskOf(i, prefix)), prefix };
}

/** The bits of the word that the prefix covers. */
function maskOf(word: number, prefix: number): number {
  const bits = Math.min(Math.max(prefix - 16 * word, 0), 16);
  return (0xffff << (16 - bits)) & 0xffff;
}

/** An address in pieces of 16 bits, two or eight; undefined when it is none. A zone (`%eth0`) does not matter. */
export function addressWords(ip: string): number[] | undefined {
  switch (isIP(ip)) {
    case 4:
      return quads(ip);
    case 6: {
      const words = groups(ip.split('%', 1)[0] as string);
      const isMapped = words[5] === 0xffff && words.every((word, i) => i > 4 || word === 0);
      return isMapped ? words.slice(6) : words;
    }
    default:
      return undefined;
  }
}

function quads(ip: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

function groups(ip: string): number[] {
  const [head = '', tail] = ip.split('::').map((part) => (part === '' ? [] : part.split(':').flatMap(wordsIn)));
  if (tail === undefined) return head as number[];
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail] as number[];
}

const wordsIn = (group: string): number[] => (group.includes('.') ? quads(group) : [Number.parseInt(group, 16)]);
const keyOf = (words: readonly number[]) => String.fromCharCode(...words);
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The address as it is usually written (RFC 5952). */
function addressOf(words: readonly number[]): string {
  if (words.length === 2) return words.flatMap((word) => [word >> 8, word & 0xff]).join('.');
  return new URL(`http://[${words.map((word) => word.toString(16)).join(':')}]/`).hostname.slice(1, -1);
}
