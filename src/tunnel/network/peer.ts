// Who is at the other end of a connection: the other end of its socket, or whom a proxy in front of us has named in a
// header of the PROXY protocol. Whoever wants to know an address asks here.

import type { Socket } from 'node:net';

export interface PeerAddress {
  /** IPv4 or IPv6, without brackets; an address of IPv4 as that, also where the listener takes IPv6 too. */
  ip: string;
  port: number;
}

export interface Peer extends PeerAddress {
  /** Where it came to: here, or where the proxy listens. */
  local: PeerAddress;
}

interface ProxiedPeer {
  peer: Peer;
  /** How many bytes of the socket the name took. */
  bytes: number;
}

/** Empty where no proxy says who comes. */
const proxiedPeers = new WeakMap<Socket, ProxiedPeer>();

/** Who is at the other end; undefined when the connection is closed, and nobody has named them. */
export function peerOf(socket: Socket): Peer | undefined {
  const said = proxiedPeers.get(socket);
  if (said) return said.peer;
  const { remoteAddress, remotePort, localAddress = '', localPort = 0 } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return { ip: unmapIpv4(remoteAddress), port: remotePort, local: { ip: unmapIpv4(localAddress), port: localPort } };
}

/** The address at the other end; '' when the connection is closed, and nobody has named it. */
export function ipOf(socket: Socket): string {
  return proxiedPeers.get(socket)?.peer.ip ?? unmapIpv4(socket.remoteAddress ?? '');
}

/** @param bytes that were read of the socket to learn it. */
export function setProxiedPeer(socket: Socket, peer: Peer, bytes: number): void {
  proxiedPeers.set(socket, { peer, bytes });
}

/** TLS was begun on a connection: who is at the other end stays the same. */
export function copyProxiedPeer(tls: Socket, raw: Socket): void {
  const said = proxiedPeers.get(raw);
  if (said) proxiedPeers.set(tls, { peer: said.peer, bytes: 0 });
}

/** The bytes that came from the other end itself. */
export function payloadBytesRead(socket: Socket): number {
  return socket.bytesRead - (proxiedPeers.get(socket)?.bytes ?? 0);
}

/** What tells an open connection from all others, on the socket itself and on TLS above it. */
export function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** An address of IPv4 as that. */
export const unmapIpv4 = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '');

/** Of IPv6 whoever has one address has 2^64 of them: the first four groups are what one network has. */
const NETWORK_GROUPS = 4;

/**
 * What an address counts as where there are limits by address: one of IPv4 as itself, also when it is written as IPv6; one of
 * IPv6 as its first groups.
 */
export function addressBlock(address: string, groupCount = NETWORK_GROUPS): string {
  if (!address.includes(':')) return address;
  const [, v4] = /^::ffff:(\d+(?:\.\d+){3})$/.exec(address) ?? [];
  if (v4) return v4;
  const [head = '', tail = ''] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  while (groups.length + after.length < 8) groups.push('0');
  return `${[...groups, ...after].slice(0, groupCount).join(':')}::/${16 * groupCount}`;
}
