// The name or port of a bind: the requested one, or one that the gateway generates.

import { randomBytes, randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import { AgentError } from '../control/agent-errors.ts';
import type { TunnelSettings } from '../control/tunnel-settings.ts';
import type { Proto } from '../endpoints/endpoint.ts';

const NAME_MAX = 253;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The default port of each protocol, which URLs leave out. */
const DEFAULT_PORTS: Record<Proto, number> = { http: 80, https: 443, tls: 443, tcp: 0 };

/**
 * Normalizes a host name for comparison: lower case, no default port, no trailing dot.
 * @param text the name as the agent sent it; a wildcard begins with `*.`.
 * @throws {AgentError} when the text is not a fully qualified name.
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

/** An unguessable name below the base domain. */
export function randomHostname(baseDomain: string): string {
  return `${randomBytes(6).toString('hex')}.${baseDomain}`;
}

/** A random port of the range for TCP endpoints; 0 (any free port) when the range is `0` to `0`. */
export function randomPort({ tcpPorts: { first, last } }: TunnelSettings): number {
  return first === 0 ? 0 : randomInt(first, last + 1);
}

/** @throws {AgentError} when the host is not the base domain, or the port is outside the range for TCP endpoints. */
export function checkTcpAddress(host: string, port: number | null, { baseDomain, tcpPorts }: TunnelSettings): void {
  if (host !== '' && host.toLowerCase() !== baseDomain)
    throw new AgentError('badAddress', { address: host, host: baseDomain });
  const { first, last } = tcpPorts;
  const isInRange = port === null || (first === 0 ? port <= 65_535 : port >= first && port <= last);
  if (!isInRange) throw new AgentError('portOutOfRange', { first, last });
}

/** The URL that visitors use. */
export function publicUrl(proto: Proto, hostname: string, port: number): string {
  return port === DEFAULT_PORTS[proto] ? `${proto}://${hostname}` : `${proto}://${hostname}:${port}`;
}

/** The parts of what `publicUrl` gives, with the port that it leaves out. */
export function readPublicUrl(url: string): { host: string; port: number } {
  const [, proto = '', host = '', port] = /^(\w+):\/\/(.*?)(?::(\d+))?$/.exec(url) ?? [];
  return { host, port: port === undefined ? DEFAULT_PORTS[proto as Proto] : Number(port) };
}
