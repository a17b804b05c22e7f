// The PROXY protocol: a header at the start of a connection that names the client. Versions 1 and 2 of the specification at
// https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt

import { isIPv6 } from 'node:net';
import type { PeerAddress } from './peer.ts';

/** The signature at the start of a version 2 header. */
export const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Version 2, command PROXY. */
export const VERSION_AND_COMMAND = 0x21;
/** Version 2, command LOCAL: the proxy opened the connection for itself. */
export const VERSION_AND_LOCAL = 0x20;
/** Address family and SOCK_STREAM. */
export const TCP4 = 0x11;
export const TCP6 = 0x21;

/** The header of a connection without a client behind it. The receiver uses the address of the socket. */
export const LOCAL_HEADER = Buffer.concat([SIGNATURE, Buffer.of(VERSION_AND_LOCAL, 0, 0, 0)]);

/**
 * The header for a TCP connection.
 * @param port the port that the visitor connected to.
 * @param ip the address that the visitor connected to; the header has the unspecified address without it.
 */
export function proxyProtocolHeader(version: 1 | 2, visitor: PeerAddress, port: number, ip?: string): Buffer {
  const isV6 = isIPv6(visitor.ip) || (ip !== undefined && isIPv6(ip));
  const source = withoutZone(visitor.ip);
  const target = withoutZone(ip ?? (isV6 ? '::' : '0.0.0.0'));
  if (version === 1) {
    const format = (address: string) => (isV6 && !isIPv6(address) ? `::ffff:${address}` : address);
    const family = isV6 ? 'TCP6' : 'TCP4';
    return Buffer.from(`PROXY ${family} ${format(source)} ${format(target)} ${visitor.port} ${port}\r\n`, 'latin1');
  }
  const addresses = isV6 ? [ipv6(source), ipv6(target)] : [ipv4(source), ipv4(target)];
  const prefix = Buffer.alloc(4);
  prefix[0] = VERSION_AND_COMMAND;
  prefix[1] = isV6 ? TCP6 : TCP4;
  prefix.writeUInt16BE(isV6 ? 36 : 12, 2);
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(visitor.port, 0);
  ports.writeUInt16BE(port, 2);
  return Buffer.concat([SIGNATURE, prefix, ...addresses, ports]);
}

/** Removes the zone (`fe80::1%eth0`), which has a meaning only on this machine. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

function ipv4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** The 16 bytes of an address. Accepts IPv4, which it maps, and IPv6 with a dotted IPv4 tail. */
function ipv6(address: string): Buffer {
  if (!isIPv6(address)) return ipv6(`::ffff:${address}`);
  const plain = withoutZone(address);
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  const text = tail
    ? `${tail[1]}${ipv4(tail[2] as string)
        .toString('hex')
        .replace(/^..../, '$&:')}`
    : plain;
  const [head = '', rest] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const before = groups(head);
  const after = rest === undefined ? [] : groups(rest);
  const bytes = Buffer.alloc(16);
  before.forEach((group, i) => void bytes.writeUInt16BE(group, 2 * i));
  after.forEach((group, i) => void bytes.writeUInt16BE(group, 16 - 2 * (after.length - i)));
  return bytes;
}
