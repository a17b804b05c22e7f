// The address that new agents are told.

import type { AgentEndpointInfo } from '../../dependencies.ts';
import { isLoopbackHost } from '../../http/request-origin.ts';

/**
 * Where agents connect, as far as the gateway can know.
 * @param baseUrl how the one who asks came here.
 */
export function agentAddress(
  { address, hosts: [named] }: Pick<AgentEndpointInfo, 'address' | 'hosts'>,
  baseUrl: string,
): string {
  const [host, port] = splitLast(address);
  if (named !== undefined) return `${named}:${port}`;
  const isEverywhere = host === '0.0.0.0' || host === '[::]';
  if (!isEverywhere && !isLoopbackHost(host)) return address;
  const { hostname } = new URL(baseUrl);
  // Where a proxy stands before a gateway that listens on loopback, one does so for the agents, too.
  if (!isLoopbackHost(hostname)) return `${hostname}:${port}`;
  return isEverywhere ? `127.0.0.1:${port}` : address;
}

function splitLast(address: string): [string, string] {
  const colon = address.lastIndexOf(':');
  return [address.slice(0, colon), address.slice(colon + 1)];
}
