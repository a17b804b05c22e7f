// Which name or port a bind gets: the one asked for, or one that the gateway chooses.

import { randomBytes, randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import { AgentError } from '../control/agent-errors.ts';
import type { TunnelSettings } from '../control/tunnel-settings.ts';
import type { Proto } from '../endpoints/endpoint.ts';

const NAME_MAX = 253;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Ports that URLs leave out. */
const USUAL_PORTS: Record<Proto, number> = { http: 80, https: 443, tls: 443, tcp: 0 };

/**
 * Brings a name into the form that names are compared in: lower case, no port, no dot at its end.
 * @param text as an agent asks for it; a wildcard begins with `*.`.
 * @throws {AgentError} when it is not a full name.
 */
export function readHostname(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/:(80|443)$/, '')
    .replace(/\.$/, '');
  const root = name.startsWith('*.') ? name.slice(2) : name;
  const labels = root.split('.');
  if (name.length <= NAME_MAX && labels.length > 1 && isIP(root) === 0 && labels.every((label) => LABEL.test(label)))
    return name;
  throw new AgentError('badName', { name: text });
}

/** A name below the base domain that nobody can guess. */
export function randomHostname(baseDomain: string): string {
  return `${randomBytes(6).toString('hex')}.${baseDomain}`;
}

/** A port of the range for TCP endpoints; 0, which is any free one, where the range is that. */
export function randomPort({ tcpPorts: { first, last } }: TunnelSettings): number {
  return first === 0 ? 0 : randomInt(first, last + 1);
}

/** @throws {AgentError} when the host is not the gateway's, or the port not one for TCP endpoints. */
export function checkTcpAddress(host: string, port: number | null, { baseDomain, tcpPorts }: TunnelSettings): void {
  if (host !== '' && host.toLowerCase() !== baseDomain)
    throw new AgentError('badAddress', { address: host, host: baseDomain });
  const { first, last } = tcpPorts;
  const isWithin = port === null || (first === 0 ? port <= 65_535 : port >= first && port <= last);
  if (!isWithin) throw new AgentError('portOutOfRange', { first, last });
}

/** The URL that visitors use. */
export function publicUrl(proto: Proto, hostname: string, port: number): string {
  return port === USUAL_PORTS[proto] ? `${proto}://${hostname}` : `${proto}://${hostname}:${port}`;
}
