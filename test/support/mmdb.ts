// Writes databases of addresses in the MMDB format (https://maxmind.github.io/MaxMind-DB/), as small as tests need them.

import { isIPv4 } from 'node:net';

/** Values that a database can have. */
export type MmdbValue = string | number | boolean | MmdbValue[] | { [name: string]: MmdbValue };

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const SEPARATOR = Buffer.alloc(16);
const TYPE = { string: 2, double: 3, uint32: 6, map: 7, array: 11, boolean: 14 };

interface Node {
  children: [Node | undefined, Node | undefined];
  entry: MmdbValue | undefined;
}

const newNode = (): Node => ({ children: [undefined, undefined], entry: undefined });

/** @param networks entries by network, as `198.51.100.0/24` or `2001:db8::/32`; none may be in another one. */
export function mmdbOf(type: string, networks: Record<string, { [name: string]: MmdbValue }>): Buffer {
  const root = newNode();
  for (const [network, entry] of Object.entries(networks)) insert(root, network, entry);
  const inner: Node[] = [];
  const collect = (node: Node) => {
    inner.push(node);
    for (const child of node.children) if (child && child.entry === undefined) collect(child);
  };
  collect(root);
  const data: Buffer[] = [];
  let dataLength = 0;
  const tree = Buffer.alloc(inner.length * 8);
  const indexes = new Map(inner.map((node, index) => [node, index]));
  for (const [index, { children }] of inner.entries())
    for (const [side, child] of children.entries()) {
      let record = inner.length; // Nothing.
      if (child?.entry !== undefined) {
        record = inner.length + SEPARATOR.length + dataLength;
        const encoded = encode(child.entry);
        data.push(encoded);
        dataLength += encoded.length;
      } else if (child) record = indexes.get(child) as number;
      tree.writeUInt32BE(record, index * 8 + side * 4);
    }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_764_000_000,
    database_type: type,
    description: { en: 'made by a test' },
    ip_version: 6,
    languages: ['en'],
    node_count: inner.length,
    record_size: 32,
  });
  return Buffer.concat([tree, SEPARATOR, ...data, MARKER, metadata]);
}

function insert(root: Node, network: string, entry: MmdbValue): void {
  const [address = '', prefix] = network.split('/');
  const isShort = isIPv4(address);
  const bits = bitsOf(address).slice(0, Number(prefix) + (isShort ? 96 : 0));
  let node = root;
  for (const bit of bits) {
    node.children[bit] ??= newNode();
    node = node.children[bit];
  }
  node.entry = entry;
}

/** All 128 bits; IPv4 is at `::/96`. */
function bitsOf(address: string): (0 | 1)[] {
  const groups = isIPv4(address) ? ['0', '0', '0', '0', '0', '0', ...pairsOf(address)] : expand(address);
  return groups.flatMap((group) =>
    [...Number.parseInt(group, 16).toString(2).padStart(16, '0')].map((bit) => (bit === '1' ? 1 : 0)),
  );
}

function pairsOf(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}

function expand(address: string): string[] {
  const [head = '', tail = ''] = address.split('::');
  const [before, after] = [head.split(':').filter(Boolean), tail.split(':').filter(Boolean)];
  return [...before, ...Array(8 - before.length - after.length).fill('0'), ...after];
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([control(TYPE.string, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'boolean') return control(TYPE.boolean, value ? 1 : 0);
  if (typeof value === 'number') return encodeNumber(value);
  if (Array.isArray(value)) return Buffer.concat([control(TYPE.array, value.length), ...value.map(encode)]);
  const members = Object.entries(value);
  return Buffer.concat([control(TYPE.map, members.length), ...members.flatMap((member) => member.map(encode))]);
}

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(Number.isInteger(value) && value >= 0 ? 4 : 8);
  if (bytes.length === 4) bytes.writeUInt32BE(value);
  else bytes.writeDoubleBE(value);
  return Buffer.concat([control(bytes.length === 4 ? TYPE.uint32 : TYPE.double, bytes.length), bytes]);
}

/** The control byte, with the byte of an extended type, and that of a size of 29 or more. */
function control(type: number, size: number): Buffer {
  if (size >= 285) throw new Error('no test needs so much');
  const first = ((type < 8 ? type : 0) << 5) | Math.min(size, 29);
  return Buffer.from([first, ...(type < 8 ? [] : [type - 7]), ...(size >= 29 ? [size - 29] : [])]);
}
