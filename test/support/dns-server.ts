// A name server on loopback: it answers for the names it is told of, as a resolver of the network would.

import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** What a name has: addresses, texts, CAA records such as `0 issue "ca.example"`, the name it is another name of, or how asking for it fails. */
export type DnsEntry =
  | string[]
  | { txt: string[] }
  | { caa: string[] }
  | { cname: string }
  | 'SERVFAIL'
  | 'REFUSED'
  | 'silent';

export interface DnsServer {
  /** Address and port, as `DNS_SERVERS` has them. */
  address: string;
  /** Names in lower case; one that begins with `*.` is for all below that have no entry. May be changed at any time. */
  zone: Record<string, DnsEntry>;
  /** Zones of other name servers, by their address and port, which are asked for texts. May be changed at any time. */
  delegated: Record<string, string>;
  /** Whether `*` is a letter like any other, so that nothing is a wildcard. */
  isLiteral: boolean;
  /** The questions so far: `A app.example.com`. */
  questions: string[];
  /** Called when a question has come: it may hold the answer. */
  onQuestion?(question: string): Promise<void> | undefined;
  close(): Promise<void>;
}

const TYPES: Record<number, string> = { 1: 'A', 5: 'CNAME', 16: 'TXT', 28: 'AAAA', 257: 'CAA' };
const NUMBERS: Record<string, number> = { A: 1, CNAME: 5, TXT: 16, AAAA: 28, CAA: 257 };
const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
const HEADER_BYTES = 12;

/** Starts a name server on a free port. */
export async function startDnsServer(zone: Record<string, DnsEntry> = {}): Promise<DnsServer> {
  const socket = createSocket('udp4');
  let isClosed = false;
  const server: Omit<DnsServer, 'address' | 'close'> = { zone, delegated: {}, isLiteral: false, questions: [] };
  socket.on('message', async (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    server.questions.push(`${type} ${name}`);
    await server.onQuestion?.(`${type} ${name}`);
    if (isClosed) return;
    const found = lookUp(server, name.toLowerCase(), type);
    if (found === 'silent') return;
    const answers = typeof found === 'string' ? [] : found;
    if (type === 'TXT') answers.push(...(await delegatedTexts(server, answers.at(-1)?.value ?? name.toLowerCase())));
    if (isClosed) return;
    const rcode = typeof found === 'string' && answers.length === 0 ? RCODES[found] : RCODES.NOERROR;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | rcode, 2); // An answer; recursion was asked for, and there is.
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    socket.send(
      Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...answers.map(encodeRecord)]),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return Object.assign(server, {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => {
      isClosed = true;
      return new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  });
}

interface Answer {
  name: string;
  type: string;
  value: string;
}

/** @returns the records on the way to an answer, of which there are none where the name has none of this type. */
function lookUp(
  server: Pick<DnsServer, 'zone' | 'isLiteral'>,
  name: string,
  type: string,
): Answer[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silent' {
  const { zone, isLiteral } = server;
  const entry = zone[name] ?? (isLiteral ? undefined : zone[name.replace(/^[^.]*/, '*')]);
  if (entry === undefined) return 'NXDOMAIN';
  if (typeof entry === 'string') return entry;
  if (Array.isArray(entry)) {
    const family = type === 'A' ? 4 : type === 'AAAA' ? 6 : -1;
    return entry.filter((address) => isIP(address) === family).map((value) => ({ name, type, value }));
  }
  if ('txt' in entry) return type === 'TXT' ? entry.txt.map((value) => ({ name, type, value })) : [];
  if ('caa' in entry) return type === 'CAA' ? entry.caa.map((value) => ({ name, type, value })) : [];
  const alias = { name, type: 'CNAME', value: entry.cname };
  if (type === 'CNAME') return [alias];
  const rest = lookUp(server, entry.cname.toLowerCase(), type);
  return rest === 'NXDOMAIN' ? [alias] : typeof rest === 'string' ? rest : [alias, ...rest];
}

/** What the name server of the zone that a name is in has for it. */
async function delegatedTexts({ delegated }: Pick<DnsServer, 'delegated'>, name: string): Promise<Answer[]> {
  const [, address] = Object.entries(delegated).find(([zone]) => name === zone || name.endsWith(`.${zone}`)) ?? [];
  if (address === undefined) return [];
  const resolver = new Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers([address]);
  const texts = await resolver.resolveTxt(name).catch(() => []);
  return texts.map((pieces) => ({ name, type: 'TXT', value: pieces.join('') }));
}

function readQuestion(query: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  return { name: labels.join('.'), type: TYPES[type] ?? String(type), end: at + 5 };
}

function encodeRecord({ name, type, value }: Answer): Buffer {
  const data = encodeData(type, value);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(NUMBERS[type] ?? 0, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fixed, data]);
}

function encodeData(type: string, value: string): Buffer {
  if (type === 'CNAME') return encodeName(value);
  if (type === 'TXT') return Buffer.from(`${String.fromCharCode(value.length)}${value}`, 'latin1');
  if (type === 'CAA') return encodeCaa(value);
  return type === 'A' ? encodeV4(value) : encodeV6(value);
}

/** As RFC 8659, section 4.1.1, has it. */
function encodeCaa(text: string): Buffer {
  const [, flags = '0', tag = '', value = ''] = /^(\d+) (\w+) "(.*)"$/.exec(text) ?? [];
  return Buffer.concat([Buffer.from([Number(flags), tag.length]), Buffer.from(`${tag}${value}`, 'latin1')]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

const encodeV4 = (address: string) => Buffer.from(address.split('.').map(Number));

function encodeV6(address: string): Buffer {
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [groups(before), groups(after)];
  const all = [...head, ...Array(8 - head.length - tail.length).fill(0), ...tail];
  const bytes = Buffer.alloc(16);
  all.forEach((group, index) => {
    bytes.writeUInt16BE(group, index * 2);
  });
  return bytes;
}
