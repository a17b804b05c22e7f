// Writes what a client is answered (RFC 1035 section 4.1).

import { MessageWriter } from './message-writer.ts';
import type { Edns, Query } from './query.ts';
import { RecordType, type ResourceRecord } from './records.ts';

/** Codes of answers (RFC 6895 section 2.3). BADVERS is too large for the header and needs EDNS. */
export const ResponseCode = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;
export type ResponseCodeName = keyof typeof ResponseCode;

export interface Reply {
  readonly code: ResponseCodeName;
  /** Whether it is about a name in one of our zones. */
  readonly isAuthoritative?: boolean;
  readonly answers?: readonly ResourceRecord[];
  readonly authority?: readonly ResourceRecord[];
  /** What may be left out where there is no room. */
  readonly additional?: readonly ResourceRecord[];
  /** Whether the client should ask again over TCP, whatever the answer is. */
  readonly isTruncated?: boolean;
}

export interface EncodedResponse {
  readonly packet: Buffer;
  readonly isTruncated: boolean;
}

/** What crosses the Internet in one piece (DNS Flag Day 2020). */
export const UDP_BYTES_MAX = 1232;
const OPT_BYTES = 11;

/** @param maxBytes when it would be longer, only the question is repeated, with the sign that the rest is missing (TC). */
export function encodeResponse(query: Query, reply: Reply, maxBytes: number): EncodedResponse {
  const { answers = [], authority = [], additional = [] } = reply;
  const room = maxBytes - (query.edns ? OPT_BYTES : 0);
  const message = new MessageWriter(query);
  for (const record of [...answers, ...authority]) message.write(record);
  if (reply.isTruncated || message.length > room) {
    return { packet: finish(new MessageWriter(query), query, reply, [0, 0, 0], true), isTruncated: true };
  }
  let extra = 0;
  while (extra < additional.length && message.writeIfFits(additional[extra] as ResourceRecord, room)) extra++;
  const counts = [answers.length, authority.length, extra];
  return { packet: finish(message, query, reply, counts, false), isTruncated: false };
}

/** Adds our EDNS record where the client sent one, and fills in the header. @param counts of the records in each section. */
function finish(message: MessageWriter, query: Query, reply: Reply, counts: number[], isTruncated: boolean): Buffer {
  const { id, opcode, question, edns, isRecursionDesired } = query;
  const [answers = 0, authority = 0, additional = 0] = counts;
  const code = ResponseCode[reply.code];
  const flags =
    0x8000 |
    (opcode << 11) |
    (reply.isAuthoritative ? 0x0400 : 0) |
    (isTruncated ? 0x0200 : 0) |
    (isRecursionDesired ? 0x0100 : 0) |
    (code & 0xf);
  if (edns) message.add(optRecord(edns, code));
  const packet = message.join();
  [id, flags, question ? 1 : 0, answers, authority, additional + (edns ? 1 : 0)].forEach((value, index) => {
    packet.writeUInt16BE(value, 2 * index);
  });
  return packet;
}

/** Our EDNS record: what a client may send us, the upper bits of the code, version 0, and whether DNSSEC was asked for. */
function optRecord({ isDnssecOk }: Edns, code: number): Buffer {
  const bytes = Buffer.alloc(OPT_BYTES);
  bytes.writeUInt16BE(RecordType.OPT, 1);
  bytes.writeUInt16BE(UDP_BYTES_MAX, 3);
  bytes.writeUInt8(code >> 4, 5);
  bytes.writeUInt8(isDnssecOk ? 0x80 : 0, 7);
  return bytes;
}
