// Places on the network: a host and a port.

import { isIP } from 'node:net';

/** A host and a port. An IPv6 address has no brackets; names are in lower case. */
export interface HostPort {
  host: string;
  port: number;
}

/** No part is only a number at the end: `127.1` and `0x7f.1` are addresses to some, and names to others. */
const HOST_NAME =
  /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?!0x[0-9a-f]*$|\d+$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Reads `name:port`, `IPv4:port` or `[IPv6]:port`.
 * @returns undefined when it is none of them; the port may still be out of range.
 */
export function readHostPort(text: string): HostPort | undefined {
  const [, v6, name = '', digits] = /^(?:\[([^\]%]+)\]|([^:]*)):(\d{1,9})$/.exec(text) ?? [];
  const host = (v6 ?? name).toLowerCase();
  const isHost = v6 === undefined ? isIP(host) === 4 || HOST_NAME.test(host) : isIP(host) === 6;
  return isHost ? { host, port: Number(digits) } : undefined;
}

/** As `readHostPort` reads it. */
export function writeHostPort({ host, port }: HostPort): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
