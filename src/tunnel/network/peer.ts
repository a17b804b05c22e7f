// The peer of a connection: the remote address of its socket, or the client that a proxy in front of the gateway named in a
// PROXY protocol header. All code that needs a peer address gets it here.

import type { Socket } from 'node:net';

export interface PeerAddress {
  /** IPv4 or IPv6, without brackets. An IPv4-mapped IPv6 address appears as IPv4. */
  ip: string;
  port: number;
}

export interface Peer extends PeerAddress {
  /** The address that the peer connected to: the gateway's or the proxy's. */
  local: PeerAddress;
}

interface ProxiedPeer {
  peer: Peer;
  /** The length of the PROXY protocol header. */
  headerBytes: number;
}

/** The peers that proxies named. It is empty where no listener expects the PROXY protocol. */
const proxiedPeers = new WeakMap<Socket, ProxiedPeer>();

/** The peer of a connection; undefined when the connection is closed and no proxy named the peer. */
export function peerOf(socket: Socket): Peer | undefined {
  const proxied = proxiedPeers.get(socket);
  if (proxied) return proxied.peer;
  const { remoteAddress, remotePort, localAddress = '', localPort = 0 } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return { ip: unmapIpv4(remoteAddress), port: remotePort, local: { ip: unmapIpv4(localAddress), port: localPort } };
}

/** The IP address of the peer; '' when the connection is closed and no proxy named the peer. */
export function ipOf(socket: Socket): string {
  return proxiedPeers.get(socket)?.peer.ip ?? unmapIpv4(socket.remoteAddress ?? '');
}

/** Sets the peer that a proxy named. @param headerBytes the bytes of the PROXY protocol header, which were read already. */
export function setProxiedPeer(socket: Socket, peer: Peer, headerBytes: number): void {
  proxiedPeers.set(socket, { peer, headerBytes });
}

/** Copies the peer of a connection to the TLS socket on top of it. */
export function copyProxiedPeer(tls: Socket, raw: Socket): void {
  const proxied = proxiedPeers.get(raw);
  if (proxied) proxiedPeers.set(tls, { peer: proxied.peer, headerBytes: 0 });
}

/** The bytes read from a socket without its PROXY protocol header. */
export function payloadBytesRead(socket: Socket): number {
  return socket.bytesRead - (proxiedPeers.get(socket)?.headerBytes ?? 0);
}

/** A key that is unique among open connections, and the same for a socket and the TLS socket on top of it. */
export function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export const unmapIpv4 = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '');

/** The groups of an IPv6 /64 prefix. One client usually has a whole /64, which is 2^64 addresses. */
const NETWORK_GROUPS = 4;

/** The key for limits by address: an IPv4 address itself, also when it is IPv4-mapped, and the prefix of an IPv6 address. */
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
