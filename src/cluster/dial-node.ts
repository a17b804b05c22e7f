// Connects to another node: to one of another machine with TLS on both sides, to one of this machine over a unix socket.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { CLIENT_TLS } from '../protocol/tls-suites.ts';
import type { LocalSockets } from './local-sockets.ts';
import { type NodeIdentity, nodeIdOf } from './node-identity.ts';

export interface NodeAddress {
  host: string;
  port: number;
}

/** Parses `host:port`; an IPv6 address has brackets. @returns undefined when it is malformed. */
export function parseNodeAddress(text: string): NodeAddress | undefined {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  return host && port ? { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) } : undefined;
}

/**
 * Connects to a node.
 * @param nodeId the node that is expected there: another one may have got its address.
 * @throws when it does not answer within `timeoutMs`, or is not this node of this cluster.
 */
export async function dialNode(
  { host, port }: NodeAddress,
  nodeId: string,
  { ca, cert, key }: NodeIdentity,
  timeoutMs: number,
): Promise<TLSSocket> {
  const socket = connect({
    host,
    port,
    ca,
    cert,
    key,
    minVersion: 'TLSv1.3',
    ...CLIENT_TLS,
    // The certificate names a node, and not the host.
    checkServerIdentity: (_, certificate) =>
      nodeIdOf(certificate) === nodeId ? undefined : new Error(`the node at ${host}:${port} is not ${nodeId}`),
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    socket.on('error', () => {}); // It is given up.
    socket.destroy();
    throw error;
  }
  return socket;
}

/**
 * Connects to a node of this machine.
 * @param ownId the id of this node, which the other one is told in the first line.
 * @throws when it does not answer within `timeoutMs`.
 */
export async function dialLocalNode(
  local: LocalSockets,
  nodeId: string,
  ownId: string,
  timeoutMs: number,
): Promise<Socket> {
  const socket = await local.connect(nodeId, timeoutMs);
  socket.write(`${ownId}\n`);
  return socket;
}
