// The listener for other nodes: TLS 1.3 with certificates of the cluster's authority on both sides.

import { createServer, type Server, type TLSSocket } from 'node:tls';
import { type NodeIdentity, nodeIdOf } from './node-identity.ts';
import { type LinkDeps, NodeLink } from './node-link.ts';

const HANDSHAKE_MS = 5000;
/** Connections at once. A cluster has tens of nodes, and each has two links at most. */
const CONNECTIONS_MAX = 1024;

export interface LinkListener {
  /** The server, which does not listen yet. */
  readonly server: Server;
  /** Replaces the certificate for new connections. */
  setIdentity(identity: NodeIdentity): void;
  /** Stops listening. The links that it has accepted stay open. */
  close(): void;
}

/** Creates the listener. @param onLink called with each connection of a node of the cluster. */
export function createLinkListener(
  identity: NodeIdentity,
  deps: LinkDeps,
  onLink: (link: NodeLink) => void,
): LinkListener {
  const settings = { minVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: true } as const;
  const server = createServer({ ...settings, ...pick(identity), handshakeTimeout: HANDSHAKE_MS });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('secureConnection', (socket: TLSSocket) => {
    const nodeId = nodeIdOf(socket.getPeerCertificate());
    if (nodeId === undefined) socket.destroy();
    else onLink(new NodeLink(socket, nodeId, 'server', deps));
  });
  server.on('tlsClientError', (_, socket) => {
    deps.counters.failed++;
    socket.destroy();
  });
  server.on('error', () => {}); // accept() failed for want of descriptors; later connections may succeed.
  return {
    server,
    setIdentity: (renewed) => server.setSecureContext({ minVersion: 'TLSv1.3', ...pick(renewed) }),
    close: () => void server.close(),
  };
}

const pick = ({ cert, key, ca }: NodeIdentity) => ({ cert, key, ca });
