// JA4: a fingerprint of TLS clients, made of what their ClientHello offers. It is the part of FoxIO's JA4+ whose method is
// open (BSD 3-Clause): https://github.com/FoxIO-LLC/ja4/blob/main/technical_details/JA4.md

import { createHash } from 'node:crypto';

const RECORD_HEADER = 5;
/** The header of the message, its version and its random number. */
const BEFORE_SESSION = 4 + 2 + 32;
const SERVER_NAME = 0x0000;
const SIGNATURE_ALGORITHMS = 0x000d;
const ALPN = 0x0010;
const SUPPORTED_VERSIONS = 0x002b;
const VERSIONS: Readonly<Record<number, string>> = { 772: '13', 771: '12', 770: '11', 769: '10' };
const EMPTY = Buffer.alloc(0);
const NO_HASH = '0'.repeat(12);

/**
 * The fingerprint of a ClientHello, as in `t13d1516h2_8daaf6152771_e5627efa2ab1`. It takes some 40 µs.
 * @param bytes a whole one, in its records, that `readClientHello` has found right.
 */
export function ja4Fingerprint(bytes: Buffer): string {
  const message = withoutRecords(bytes);
  let at = BEFORE_SESSION;
  const vector = (lengthBytes: number): Buffer => {
    const start = at + lengthBytes;
    at = start + message.readUIntBE(start - lengthBytes, lengthBytes);
    return message.subarray(start, at);
  };
  vector(1); // The session.
  const ciphers = numbersOf(vector(2));
  vector(1); // Compression.
  const extensions = at < message.length ? extensionsOf(vector(2)) : new Map<number, Buffer>();

  const types = [...extensions.keys()].filter(isReal);
  const hashed = sorted(types.filter((type) => type !== SERVER_NAME && type !== ALPN));
  const signatures = numbersOf(extensions.get(SIGNATURE_ALGORITHMS)?.subarray(2) ?? EMPTY).map(hex);
  const offered = [hashed.join(','), ...(signatures.length > 0 ? [signatures.join(',')] : [])].join('_');
  const first = [
    't',
    versionOf(extensions.get(SUPPORTED_VERSIONS), message.readUInt16BE(4)),
    extensions.has(SERVER_NAME) ? 'd' : 'i',
    countOf(ciphers),
    countOf(types),
    protocolOf(extensions.get(ALPN)),
  ].join('');
  return `${first}_${hashOf(sorted(ciphers).join(','))}_${types.length > 0 ? hashOf(offered) : NO_HASH}`;
}

function withoutRecords(bytes: Buffer): Buffer {
  const fragments: Buffer[] = [];
  for (let at = 0; at + RECORD_HEADER <= bytes.length; ) {
    const end = at + RECORD_HEADER + bytes.readUInt16BE(at + 3);
    fragments.push(bytes.subarray(at + RECORD_HEADER, end));
    at = end;
  }
  return Buffer.concat(fragments);
}

function extensionsOf(bytes: Buffer): Map<number, Buffer> {
  const extensions = new Map<number, Buffer>();
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt16BE(at + 2);
    extensions.set(bytes.readUInt16BE(at), bytes.subarray(at + 4, end));
    at = end;
  }
  return extensions;
}

/** Numbers of two bytes each, without those that stand for nothing (GREASE, RFC 8701). */
function numbersOf(bytes: Buffer): number[] {
  const numbers: number[] = [];
  for (let at = 0; at + 2 <= bytes.length; at += 2) numbers.push(bytes.readUInt16BE(at));
  return numbers.filter(isReal);
}

const isReal = (number: number) => (number & 0x0f0f) !== 0x0a0a || number >> 8 !== (number & 0xff);
const hex = (number: number) => number.toString(16).padStart(4, '0');
const sorted = (numbers: readonly number[]) => numbers.map(hex).sort();
const countOf = (list: readonly unknown[]) => String(Math.min(list.length, 99)).padStart(2, '0');

/** The highest version that is offered. @param legacy the one of the message, where no extension has any. */
function versionOf(extension: Buffer | undefined, legacy: number): string {
  return VERSIONS[extension ? Math.max(0, ...numbersOf(extension.subarray(1))) : legacy] ?? '00';
}

/** The first and the last character of the first protocol; of its hexadecimal form, where one of them is no letter or digit. */
function protocolOf(extension: Buffer | undefined): string {
  const protocol = extension?.subarray(3, 3 + (extension[2] ?? 0)) ?? EMPTY;
  if (protocol.length === 0) return '00';
  const ends = String.fromCharCode(protocol[0] as number, protocol.at(-1) as number);
  if (/^[0-9A-Za-z]{2}$/.test(ends)) return ends;
  const digits = protocol.toString('hex');
  return `${digits[0]}${digits.at(-1)}`;
}

function hashOf(list: string): string {
  return list === '' ? NO_HASH : createHash('sha256').update(list).digest('hex').slice(0, 12);
}
