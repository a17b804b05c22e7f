// The listener for agents: it terminates TLS and creates a session for each connection.

import { createServer as createTcpServer, type Server } from 'node:net';
import { createServer, type SecureContext, type TLSSocket } from 'node:tls';
import { SERVER_TLS } from '../../protocol/tls-suites.ts';
import { AgentConnections } from '../connections/agent-connections.ts';
import { AgentSession } from './agent-session.ts';
import type { SessionDeps } from './session-types.ts';

/** The timeout of a TLS handshake; milliseconds. Without it, a silent peer would keep its connection for ever. */
const HANDSHAKE_MS = 10_000;

/** A certificate chain and its key, in PEM. */
export interface TlsIdentity {
  cert: string;
  key: string;
}

/** The agent listener and its lifecycle. */
export interface AgentListener {
  /** The TCP server, which does not listen yet. */
  readonly server: Server;
  /** Replaces the listener's own certificate for new handshakes. */
  setIdentity(identity: TlsIdentity): void;
  /** Takes no new connections. Sessions go on. */
  stopListening(): void;
  /** Stops listening, then ends the sessions, then closes the remaining connections. */
  close(endSessions: () => Promise<void>): Promise<void>;
}

/**
 * Creates the listener.
 * @param identity the listener's own certificate.
 * @param contextOf the certificate for a server name; undefined when there is none but the listener's own.
 */
export function createAgentListener(
  identity: TlsIdentity,
  contextOf: (name: string) => SecureContext | undefined | Promise<SecureContext | undefined>,
  deps: SessionDeps,
): AgentListener {
  const tls = createServer({
    ...identity,
    SNICallback(name, done) {
      const find = async () => contextOf(name.toLowerCase());
      void find().then(
        (context) => done(null, context),
        (error: Error) => {
          deps.onFailure(error);
          done(error);
        },
      );
    },
    handshakeTimeout: HANDSHAKE_MS,
    minVersion: 'TLSv1.2',
    ...SERVER_TLS,
  });
  const { refusals } = deps.sessions;
  const connections = new AgentConnections({
    max: deps.settings.maxAgents,
    startTls: (socket) => void tls.emit('connection', socket),
    onRefused: () => refusals.add('tooManyConnections'),
  });
  tls.on('secureConnection', (socket: TLSSocket) => {
    const slot = connections.slotOf(socket);
    if (slot) new AgentSession(socket, deps, slot);
    else socket.destroy(); // The connection is being closed.
  });
  tls.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // A peer that closes without an alert may be the health check of a load balancer.
    if (error.code !== 'ECONNRESET') refusals.add('tlsFailed');
    socket.destroy(); // Node reports a handshake timeout but does not close the socket.
  });
  const server = createTcpServer({ noDelay: true }, (socket) => connections.admit(socket));
  server.on('error', () => {}); // accept() failed for want of descriptors; later connections may succeed.
  let closed: Promise<void> | undefined;
  const stopListening = () => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    return closed;
  };
  return {
    server,
    setIdentity: (own) => tls.setSecureContext({ ...SERVER_TLS, ...own, minVersion: 'TLSv1.2' }),
    stopListening,
    async close(endSessions) {
      const closed = stopListening();
      await endSessions();
      connections.close();
      await closed;
    },
  };
}
