// The first bytes of a stream that brings a visitor: for which tunnel, and who it is.

import { Fields } from './fields.ts';
import { MessageError } from './json-reader.ts';

const LENGTH_BYTES = 8;
const HEADER_MAX = 64 * 1024;

/** What kind of listener a visitor came through, as the wire numbers them. */
export const EdgeType = { NONE: '0', TCP: '1', TLS: '2', HTTPS: '3' } as const;

export interface ProxyHeader {
  tunnelId: string;
  /** `ip:port`, IPv6 in brackets. */
  clientAddress: string;
  proto: string;
  edgeType: string;
  passthrough: boolean;
}

/** The length (64 bits, little-endian) and the JSON. */
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
 * Reads a header from the front of `bytes`. @returns it and what follows it; undefined when bytes are missing.
 * @throws {MessageError}
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
    // Told below.
  }
  throw new MessageError('a proxy header must be a JSON object');
}
