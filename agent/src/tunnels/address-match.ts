// Finds tunnels by a part of their URL, and normalizes their public addresses.

import type { Protocol } from '../gateway-client.ts';

/**
 * Finds the tunnels that match a part of a URL. The first rule with a match decides: the whole URL; its host, with or
 * without port; the first label of its host; any part of the URL. The result may have several tunnels.
 */
export function findByUrlPart<T extends { url: string }>(part: string, tunnels: readonly T[]): T[] {
  const text = part.toLowerCase();
  if (text === '') return [];
  const rules: ((url: string) => boolean)[] = [
    (url) => url === text || url === text.replace(/\/$/, ''),
    (url) => hostOf(url) === text || nameOf(url) === text,
    (url) => nameOf(url).split('.')[0] === text,
    (url) => url.includes(text),
  ];
  for (const rule of rules) {
    const found = tunnels.filter(({ url }) => rule(url.toLowerCase()));
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * The key of a public address, which only one tunnel can have: a domain of the HTTP listener, a domain of the listener that
 * https and tls share, or a TCP port.
 * @param domain the requested domain, or the host of a URL.
 */
export function addressKey(protocol: Protocol, domain: string): string {
  const [, name = '', port = ''] = /^(.*?)\.?(?::(\d+))?$/.exec(domain.toLowerCase()) ?? [];
  if (protocol === 'tcp') return `tcp:${port}`;
  return protocol === 'http' ? `http:${name}` : `tls:${name}`;
}

/** The host and the port of a URL, as written. */
export const hostOf = (url: string) => url.replace(/^[a-z]+:\/\//i, '').replace(/\/.*$/, '');
const nameOf = (url: string) => hostOf(url).replace(/:\d+$/, '');
