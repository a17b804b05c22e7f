// What a new agent has to be told of this gateway.

import { isLoopbackHost } from './loopback.ts';

/** The listener of agents. */
export interface AgentDoor {
  /** Where it listens: host and port. */
  address: string;
  /** Names that its certificate is for on top of the usual ones: whoever set them means agents to use them. */
  hosts: readonly string[];
  /** The certificate that agents are to trust, in PEM. */
  caFile: string;
}

/**
 * Where agents connect, as far as the gateway can know.
 * @param baseUrl how the one who asks came here.
 */
export function agentAddress(
  { address, hosts: [named] }: Pick<AgentDoor, 'address' | 'hosts'>,
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
