// The header of the PROXY protocol, which a proxy in front of us begins a connection with: versions 1 and 2 of the
// specification at https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt. What we write ourselves is in
// `tunnel/network/proxy-protocol.ts`.

import { isIPv4, isIPv6 } from 'node:net';
import { readCidr } from '../../net/networks.ts';
import type { Peer } from '../../tunnel/network/peer.ts';
import { SIGNATURE, TCP4, TCP6, VERSION_AND_COMMAND, VERSION_AND_LOCAL } from '../../tunnel/network/proxy-protocol.ts';

/** Bytes of a header of version 1, with its line end: no proxy has a reason to send more. */
export const TEXT_MAX = 107;
/** Bytes of a header of version 2, with what it says beside addresses; nginx has the same limit. */
export const BINARY_MAX = 4096;

export type Reading =
  /** It is right as far as it has come. */
  | { state: 'more' }
  | { state: 'malformed'; reason: string }
  | {
      state: 'header';
      /** In bytes. */
      length: number;
      /** Undefined where the socket's own address is the right one: a check of the proxy's, or a client without one. */
      peer: Peer | undefined;
    };

const PREFIX = Buffer.from('PROXY ', 'latin1');
const LINE = /^PROXY (?:UNKNOWN(?: [^\r]*)?|(TCP[46]) (\S+) (\S+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4}))$/;
const PORT_MAX = 65_535;
/** Signature, version and command, family, length of the rest. */
const BINARY_START = SIGNATURE.length + 4;
/** Families without an address of TCP: none, datagrams, and sockets of Unix. */
const OTHER_FAMILIES = [0x00, 0x12, 0x22, 0x31, 0x32];
const MORE: Reading = { state: 'more' };
const NO_HEADER = 'there is no PROXY header';

/**
 * Reads the header that `bytes`, everything a connection has brought so far, begins with: what is wrong is known at the
 * first wrong byte. What version 2 says beside addresses (its TLVs) is skipped. Never throws.
 */
export function readProxyProtocol(bytes: Buffer): Reading {
  if (bytes.length === 0) return MORE;
  return bytes[0] === SIGNATURE[0] ? readBinary(bytes) : readText(bytes);
}

function readText(bytes: Buffer): Reading {
  if (!beginsLike(bytes, PREFIX)) return malformed(NO_HEADER);
  const end = bytes.subarray(0, TEXT_MAX).indexOf('\n');
  if (end < 0) return bytes.length < TEXT_MAX ? MORE : malformed(`its line is longer than ${TEXT_MAX} bytes`);
  if (bytes[end - 1] !== 0x0d) return malformed('its line does not end in CR LF');
  const [line, family, source = '', target = '', port, localPort] =
    LINE.exec(bytes.toString('latin1', 0, end - 1)) ?? [];
  if (line === undefined) return malformed('its line is none of the protocol');
  const length = end + 1;
  if (family === undefined) return { state: 'header', length, peer: undefined };
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6;
  if (!isAddress(source) || !isAddress(target)) return malformed(`it has no two addresses of ${family}`);
  if (Number(port) > PORT_MAX || Number(localPort) > PORT_MAX) return malformed('a port is too high');
  const [ip, local] = [readCidr(source)?.base, readCidr(target)?.base];
  if (ip === undefined || local === undefined) return malformed('an address has a zone');
  return { state: 'header', length, peer: { ip, port: Number(port), local: { ip: local, port: Number(localPort) } } };
}

function readBinary(bytes: Buffer): Reading {
  if (!beginsLike(bytes, SIGNATURE)) return malformed(NO_HEADER);
  const [command, family = -1] = bytes.subarray(SIGNATURE.length);
  if (command !== undefined && command !== VERSION_AND_COMMAND && command !== VERSION_AND_LOCAL)
    return malformed('its version or command is unknown');
  if (bytes.length < BINARY_START) return MORE;
  const length = BINARY_START + bytes.readUInt16BE(BINARY_START - 2);
  if (length > BINARY_MAX) return malformed(`it is longer than ${BINARY_MAX} bytes`);
  const size = family === TCP4 ? 4 : family === TCP6 ? 16 : undefined;
  if (command === VERSION_AND_COMMAND) {
    if (size === undefined && !OTHER_FAMILIES.includes(family)) return malformed('its address family is unknown');
    if (size !== undefined && length < BINARY_START + 2 * size + 4)
      return malformed('it is too short for its addresses');
  }
  if (bytes.length < length) return MORE;
  if (command === VERSION_AND_LOCAL || size === undefined) return { state: 'header', length, peer: undefined };
  const ports = BINARY_START + 2 * size;
  const place = (i: 0 | 1) => ({
    ip: addressIn(bytes.subarray(BINARY_START + i * size, BINARY_START + (i + 1) * size)),
    port: bytes.readUInt16BE(ports + 2 * i),
  });
  return { state: 'header', length, peer: { ...place(0), local: place(1) } };
}

/** The address, one of IPv4 that is mapped to IPv6 as that of IPv4. */
function addressIn(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').match(/.{4}/g) as string[];
  return readCidr(groups.join(':'))?.base as string;
}

function beginsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, length, 0, length) === 0;
}

function malformed(reason: string): Reading {
  return { state: 'malformed', reason };
}
