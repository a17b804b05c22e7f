// The proxy header: the first bytes of a visitor's stream, which name the tunnel and the visitor.

import { Fields } from './fields.ts';
import { MessageError } from './json-reader.ts';

const LENGTH_BYTES = 8;
const HEADER_MAX = 64 * 1024;

/** The kinds of listeners that visitors use, with their numbers on the wire. */
export const EdgeType = { NONE: '0', TCP: '1', TLS: '2', HTTPS: '3' } as const;

/** The content of a proxy header. */
export interface ProxyHeader {
  tunnelId: string;
  /** The visitor's `ip:port`, with an IPv6 address in brackets. */
  clientAddress: string;
  proto: string;
  edgeType: string;
  passthrough: boolean;
}

/** Encodes a header: the length (64 bits, little-endian) and the JSON. */
export function writeProxyHeader(header: ProxyHeader): Buffer {
  const text = Buffer.from(
    JSON.stringify({
      Id: header.tunnelId,
      ClientAddr: header.clientAddress,
      Proto: header.proto,
      EdgeType: header.edgeType,
      PassthroughTLS: header.passthrough,
    }),
  );
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + text.length);
  bytes.writeBigInt64LE(BigInt(text.length));
  text.copy(bytes, LENGTH_BYTES);
  return bytes;
}

/**
 * Parses a header at the start of `bytes`.
 * @returns the header and the bytes after it; undefined when the header is incomplete.
 * @throws {MessageError} when the header is malformed.
 */
export function readProxyHeader(bytes: Buffer): { header: ProxyHeader; rest: Buffer } | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined;
  const length = bytes.readBigInt64LE();
  if (length < 2n || length > HEADER_MAX) throw new MessageError(`a proxy header must have 2 to ${HEADER_MAX} bytes`);
  const end = LENGTH_BYTES + Number(length);
  if (bytes.length < end) return undefined;
  const fields = new Fields(parse(bytes.toString('utf8', LENGTH_BYTES, end)));
  const header = {
    tunnelId: fields.text('Id'),
    clientAddress: fields.text('ClientAddr'),
    proto: fields.text('Proto'),
    edgeType: fields.text('EdgeType'),
    passthrough: fields.flag('PassthroughTLS'),
  };
  return { header, rest: bytes.subarray(end) };
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below covers both cases.
  }
  throw new MessageError('a proxy header must be a JSON object');
}
