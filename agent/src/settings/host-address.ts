// Addresses of hosts: a name or an IP address, and a port.

import { isIP } from 'node:net';

const NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;

/** A host and a port. Port 0 means any free port. An IPv6 address has no brackets. */
export interface HostAddress {
  host: string;
  port: number;
}

/** Parses `host:port` or `[IPv6]:port`. @throws {Error} the expected form. */
export function readAddress(text: string, minPort: number): HostAddress {
  const [, v6, name, digits] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name ?? '';
  const port = Number(digits);
  const isHost = v6 === undefined ? NAME.test(host) : isIP(v6) === 6;
  if (isHost && port >= minPort && port <= 65_535) return { host, port };
  throw new Error(`must be host:port, as 127.0.0.1:4443 or [::1]:4443, with a port from ${minPort} to 65535`);
}

/** Parses addresses, separated by commas. @throws {Error} the expected form. */
export function readAddresses(text: string): HostAddress[] {
  const parts = text.split(',').map((part) => part.trim());
  const addresses = parts.map((part) => {
    try {
      return readAddress(part, 1);
    } catch (error) {
      if (parts.length === 1) throw error;
      throw new Error(`${(error as Error).message}; "${part}" is not`);
    }
  });
  return [...new Map(addresses.map((address) => [writeAddress(address), address])).values()];
}

/** Formats an address as `host:port` or `[IPv6]:port`. */
export function writeAddress({ host, port }: HostAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether the text is a host name or an IPv4 address. */
export const isHostName = (text: string) => NAME.test(text);
