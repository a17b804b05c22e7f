// Where agents connect: TLS, and a session for each.

import { createServer as createTcpServer, type Server } from 'node:net';
import { createServer, type SecureContext, type TLSSocket } from 'node:tls';
import { CIPHERS } from '../../protocol/tls-suites.ts';
import { AgentConnections } from '../connections/agent-connections.ts';
import { AgentSession } from './agent-session.ts';
import type { SessionDeps } from './session-types.ts';

/** How long a TLS handshake may take; milliseconds. An agent without a deadline of its own would wait for ever. */
const HANDSHAKE_MS = 10_000;

/** A certificate and its key, in PEM. */
export interface TlsIdentity {
  cert: string;
  key: string;
}

export interface AgentListener {
  /** Not listening yet. */
  readonly server: Server;
  /** Shows another certificate of its own from now on. */
  setIdentity(identity: TlsIdentity): void;
  /** Ends listening, then the sessions, then whatever is still connected. */
  close(endSessions: () => Promise<void>): Promise<void>;
}

/**
 * @param identity the listener's own.
 * @param contextOf a certificate of the operator's for the name that an agent asks for, where there is one.
 */
export function createAgentListener(
  identity: TlsIdentity,
  contextOf: (name: string) => SecureContext | undefined,
  deps: SessionDeps,
): AgentListener {
  const tls = createServer({
    ...identity,
    SNICallback(name, done) {
      try {
        done(null, contextOf(name));
      } catch (error) {
        deps.onFailure(error);
        done(error as Error);
      }
    },
    handshakeTimeout: HANDSHAKE_MS,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
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
    else socket.destroy(); // It is being closed.
  });
  tls.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // Who goes without a word may be a load balancer that looks whether somebody listens.
    if (error.code !== 'ECONNRESET') refusals.add('tlsFailed');
    socket.destroy(); // Of a handshake that takes too long, Node only tells.
  });
  const server = createTcpServer({ noDelay: true }, (socket) => connections.admit(socket));
  server.on('error', () => {}); // One connection could not be accepted, for want of descriptors; the next may be.
  return {
    server,
    setIdentity: (own) => tls.setSecureContext({ ...own, minVersion: 'TLSv1.2', ciphers: CIPHERS }),
    async close(endSessions) {
      const closed = new Promise((resolve) => server.close(resolve));
      await endSessions();
      connections.close();
      await closed;
    },
  };
}
