// What a client asks: the header, the question and the EDNS record of a message (RFC 1035 section 4.1, RFC 6891).

import { readName, skipName } from './name.ts';
import { RecordType } from './records.ts';

export const MESSAGE_HEADER_BYTES = 12;
/** Type, class, time to live and length of the data: what a record has behind its name. */
const RECORD_FIXED_BYTES = 10;
const OPTION_HEADER_BYTES = 4;

export interface Question {
  /** As [`name.ts`](name.ts) writes names. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** As it came, so that the answer has its very letters (0x20). */
  readonly bytes: Buffer;
}

export interface Edns {
  readonly version: number;
  /** How long an answer over UDP may be. */
  readonly udpBytes: number;
  /** Whether DNSSEC was asked for, which the answer repeats. */
  readonly isDnssecOk: boolean;
}

export interface Query {
  readonly id: number;
  readonly opcode: number;
  readonly isRecursionDesired: boolean;
  /** What can be read of a message that is no question, too; undefined when there is not exactly one. */
  readonly question: Question | undefined;
  readonly edns: Edns | undefined;
  /** Whether the message ends early, goes on behind its end, or is no message otherwise. */
  readonly isMalformed: boolean;
}

/** @returns undefined for what must not be answered: an answer, so that two servers never talk to each other, and no header. */
export function readQuery(packet: Buffer): Query | undefined {
  if (packet.length < MESSAGE_HEADER_BYTES) return undefined;
  const flags = packet.readUInt16BE(2);
  if (flags & 0x8000) return undefined;
  const header = {
    id: packet.readUInt16BE(0),
    opcode: (flags >> 11) & 0xf,
    isRecursionDesired: (flags & 0x0100) !== 0,
  };
  const malformed = { ...header, question: undefined, edns: undefined, isMalformed: true };
  if (packet.readUInt16BE(4) !== 1) return malformed;
  const question = readQuestion(packet);
  if (!question) return malformed;
  const edns = readEdns(packet, MESSAGE_HEADER_BYTES + question.bytes.length);
  if (edns === 'malformed') return malformed;
  return { ...header, question, edns, isMalformed: false };
}

function readQuestion(packet: Buffer): Question | undefined {
  const name = readName(packet, MESSAGE_HEADER_BYTES);
  if (!name || name.end + 4 > packet.length) return undefined;
  return {
    name: name.text,
    type: packet.readUInt16BE(name.end),
    class: packet.readUInt16BE(name.end + 2),
    bytes: packet.subarray(MESSAGE_HEADER_BYTES, name.end + 4),
  };
}

/** Goes through all records: one must be where the one before it ends, and there is one of EDNS at most. */
function readEdns(packet: Buffer, start: number): Edns | undefined | 'malformed' {
  const additionalFrom = packet.readUInt16BE(6) + packet.readUInt16BE(8);
  const records = additionalFrom + packet.readUInt16BE(10);
  let at = start;
  let edns: Edns | undefined;
  for (let i = 0; i < records; i++) {
    const fixed = skipName(packet, at);
    if (fixed === undefined || fixed + RECORD_FIXED_BYTES > packet.length) return 'malformed';
    const data = fixed + RECORD_FIXED_BYTES;
    const end = data + packet.readUInt16BE(data - 2);
    if (end > packet.length) return 'malformed';
    if (packet.readUInt16BE(fixed) === RecordType.OPT) {
      const isRoot = fixed === at + 1;
      if (edns || !isRoot || i < additionalFrom || !areOptions(packet.subarray(data, end))) return 'malformed';
      edns = {
        udpBytes: packet.readUInt16BE(fixed + 2),
        version: packet[fixed + 5] as number,
        isDnssecOk: ((packet[fixed + 6] as number) & 0x80) !== 0,
      };
    }
    at = end;
  }
  return at === packet.length ? edns : 'malformed';
}

/** Whether the options of EDNS fill their record. What they say does not matter: none is known here. */
function areOptions(data: Buffer): boolean {
  let at = 0;
  while (at + OPTION_HEADER_BYTES <= data.length) at += OPTION_HEADER_BYTES + data.readUInt16BE(at + 2);
  return at === data.length;
}
