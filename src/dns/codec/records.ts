// The records that the responder has, in the form in which they are sent (RFC 1035 section 3.3, RFC 3596).

import { isIPv4 } from 'node:net';
import { addressWords } from '../../net/networks.ts';

/** Types of records and of questions. */
export const RecordType = {
  A: 1,
  NS: 2,
  SOA: 6,
  HINFO: 13,
  TXT: 16,
  AAAA: 28,
  OPT: 41,
  DS: 43,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;

export const CLASS_IN = 1;

/** The bytes of one character-string. */
const STRING_BYTES_MAX = 255;

export interface ResourceRecord {
  readonly name: string;
  readonly type: number;
  /** How long it may be kept; seconds. */
  readonly ttl: number;
  /** Bytes, and names, which are compressed where they can be. */
  readonly data: readonly (Buffer | string)[];
}

/** @param address IPv4 makes an A record, IPv6 an AAAA record. */
export function addressRecord(name: string, ttl: number, address: string): ResourceRecord {
  const bytes = Buffer.from((addressWords(address) ?? []).flatMap((word) => [word >> 8, word & 0xff]));
  return { name, type: isIPv4(address) ? RecordType.A : RecordType.AAAA, ttl, data: [bytes] };
}

export function nameServerRecord(name: string, ttl: number, server: string): ResourceRecord {
  return { name, type: RecordType.NS, ttl, data: [server] };
}

/** @param value in UTF-8, in as many character-strings as it takes. Resolvers and authorities join them again. */
export function textRecord(name: string, ttl: number, value: string): ResourceRecord {
  const bytes = Buffer.from(value);
  const data: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += STRING_BYTES_MAX) {
    const part = bytes.subarray(at, at + STRING_BYTES_MAX);
    data.push(Buffer.of(part.length), part);
  }
  return { name, type: RecordType.TXT, ttl, data };
}

/** What answers a question for everything (RFC 8482 section 4.2). */
export function hostInfoRecord(name: string, ttl: number): ResourceRecord {
  return { name, type: RecordType.HINFO, ttl, data: [Buffer.from('\x07RFC8482\x00', 'latin1')] };
}

export interface AuthorityTimes {
  serial: number;
  /** Seconds, as all that follow; how long negative answers may be kept is the last. */
  refresh: number;
  retry: number;
  expire: number;
  minimum: number;
}

/** @param mailbox the address of who is responsible, as a name. */
export function authorityRecord(
  name: string,
  ttl: number,
  primary: string,
  mailbox: string,
  { serial, refresh, retry, expire, minimum }: AuthorityTimes,
): ResourceRecord {
  const times = Buffer.alloc(20);
  [serial, refresh, retry, expire, minimum].forEach((value, index) => {
    times.writeUInt32BE(value, 4 * index);
  });
  return { name, type: RecordType.SOA, ttl, data: [primary, mailbox, times] };
}
