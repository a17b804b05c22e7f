// The PROXY protocol: who a connection comes from, said in its first bytes. Versions 1 and 2 of the specification at
// https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt

import { isIPv6 } from 'node:net';
import type { PeerAddress } from './peer.ts';

/** What a header of version 2 begins with. */
export const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Version 2, command PROXY. */
export const VERSION_AND_COMMAND = 0x21;
/** Version 2, command LOCAL: the connection is the proxy's own. */
export const VERSION_AND_LOCAL = 0x20;
/** Address family and SOCK_STREAM. */
export const TCP4 = 0x11;
export const TCP6 = 0x21;

/** The header for a connection that nobody else is behind: whoever reads it goes by the socket's own address. */
export const LOCAL_HEADER = Buffer.concat([SIGNATURE, Buffer.of(VERSION_AND_LOCAL, 0, 0, 0)]);

/**
 * The header for a TCP connection.
 * @param port and `ip` are where the visitor came to. An address that is not known is the unspecified one.
 */
export function proxyProtocolHeader(version: 1 | 2, visitor: PeerAddress, port: number, ip?: string): Buffer {
  const isV6 = isIPv6(visitor.ip) || (ip !== undefined && isIPv6(ip));
  const source = withoutZone(visitor.ip);
  const target = withoutZone(ip ?? (isV6 ? '::' : '0.0.0.0'));
  if (version === 1) {
    const write = (address: string) => (isV6 && !isIPv6(address) ? `::ffff:${address}` : address);
    const family = isV6 ? 'TCP6' : 'TCP4';
    return Buffer.from(`PROXY ${family} ${write(source)} ${write(target)} ${visitor.port} ${port}\r\n`, 'latin1');
  }
  const addresses = isV6 ? [ipv6(source), ipv6(target)] : [ipv4(source), ipv4(target)];
  const lengths = Buffer.alloc(4);
  lengths[0] = VERSION_AND_COMMAND;
  lengths[1] = isV6 ? TCP6 : TCP4;
  lengths.writeUInt16BE(isV6 ? 36 : 12, 2);
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(visitor.port, 0);
  ports.writeUInt16BE(port, 2);
  return Buffer.concat([SIGNATURE, lengths, ...addresses, ports]);
}

/** A zone (`fe80::1%eth0`) is this machine's affair. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

function ipv4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** Also of an IPv4 address, mapped, and of one that ends in such. */
function ipv6(address: string): Buffer {
  if (!isIPv6(address)) return ipv6(`::ffff:${address}`);
  const plain = address.replace(/%.*$/, ''); // The zone is this machine's affair.
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
