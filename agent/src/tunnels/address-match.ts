// Which tunnel somebody means, and which public address one has.

import type { Protocol } from '../gateway-client.ts';

/**
 * The tunnels that a part of a URL means: the first of these that are any. That very URL; its host, with or without port;
 * the first label of its host; any part of it. More than one is for the caller to ask back.
 */
export function findByUrlPart<T extends { url: string }>(part: string, tunnels: readonly T[]): T[] {
  const wanted = part.toLowerCase();
  if (wanted === '') return [];
  const rules: ((url: string) => boolean)[] = [
    (url) => url === wanted || url === wanted.replace(/\/$/, ''),
    (url) => hostOf(url) === wanted || nameOf(url) === wanted,
    (url) => nameOf(url).split('.')[0] === wanted,
    (url) => url.includes(wanted),
  ];
  for (const rule of rules) {
    const found = tunnels.filter(({ url }) => rule(url.toLowerCase()));
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * What only one tunnel can have: a name of the HTTP listener, one of the listener that https and tls share, or a port.
 * @param domain as it was asked for, or the host of a URL.
 */
export function claimAddress(protocol: Protocol, domain: string): string {
  const [, name = '', port = ''] = /^(.*?)\.?(?::(\d+))?$/.exec(domain.toLowerCase()) ?? [];
  if (protocol === 'tcp') return `tcp:${port}`;
  return protocol === 'http' ? `http:${name}` : `tls:${name}`;
}

/** Host and port, as the URL has them. */
export const hostOf = (url: string) => url.replace(/^[a-z]+:\/\//i, '').replace(/\/.*$/, '');
const nameOf = (url: string) => hostOf(url).replace(/:\d+$/, '');
