// The listeners for other nodes. Those of other machines come over TLS 1.3, with certificates of the cluster's authority on both sides.
// Those of this machine come over a unix socket that only the owner of both processes may open, and name themselves in the first line.

import { createServer as createLocalServer, type Server as LocalServer, type Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { SERVER_TLS } from '../protocol/tls-suites.ts';
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
  const terms = { ...SERVER_TLS, minVersion: 'TLSv1.3' } as const;
  const settings = { ...terms, requestCert: true, rejectUnauthorized: true } as const;
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
    setIdentity: (renewed) => server.setSecureContext({ ...terms, ...pick(renewed) }),
    close: () => void server.close(),
  };
}

/** The longest first line, in bytes: the id of a node. */
const LINE_MAX = 64;

/** Creates the listener for nodes of this machine. @param onLink called with each connection. */
export function createLocalLinkListener(deps: LinkDeps, onLink: (link: NodeLink) => void): LocalServer {
  const server = createLocalServer({ pauseOnConnect: true });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('connection', (socket: Socket) =>
    readLine(socket, (nodeId) => onLink(new NodeLink(socket, nodeId, 'server', deps))),
  );
  server.on('error', () => {}); // As above.
  return server;
}

/** Reads the first line, and leaves what follows it to the next reader. */
function readLine(socket: Socket, onLine: (line: string) => void): void {
  let head: Buffer = Buffer.alloc(0);
  const fail = () => socket.destroy();
  const deadline = setTimeout(fail, HANDSHAKE_MS).unref();
  socket.on('error', fail);
  socket.on('data', function take(chunk: Buffer) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\n');
    if (end === -1) return void (head.length > LINE_MAX && fail());
    clearTimeout(deadline);
    socket.pause();
    socket.off('data', take).off('error', fail);
    if (end + 1 < head.length) socket.unshift(head.subarray(end + 1));
    onLine(head.toString('latin1', 0, end));
    socket.resume();
  });
  socket.resume();
}

const pick = ({ cert, key, ca }: NodeIdentity) => ({ cert, key, ca });
