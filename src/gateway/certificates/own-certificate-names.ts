// Which certificates the gateway's own names need.

import { isIP } from 'node:net';
import type { Config } from '../../config/config.ts';
import { isWithin } from '../../store/domains/dns-names.ts';

/**
 * The sets of names, each for one certificate: the base domain with all one label below it, and each name of `AGENT_HOSTS` and
 * `PUBLIC_API_URL` that this does not cover. Addresses, and names that no authority issues for, have none.
 */
export function ownCertificateNames({ baseDomain, agentHosts, publicApiUrl }: Config): string[][] {
  const api = publicApiUrl === undefined ? [] : [new URL(publicApiUrl).hostname];
  const isCovered = (name: string) => name === baseDomain || name.slice(name.indexOf('.') + 1) === baseDomain;
  const others = [...agentHosts, ...api]
    .map((name) => name.toLowerCase())
    .filter((name) => isPublic(name) && !isCovered(name));
  const base = isPublic(baseDomain) ? [[baseDomain, `*.${baseDomain}`]] : [];
  return [...base, ...[...new Set(others)].map((name) => [name])];
}

const isPublic = (name: string) =>
  name.includes('.') && isIP(name) === 0 && !name.startsWith('[') && !isWithin(name, 'localhost');
