// Where agents connect: TLS, and a session for each.

import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
import { CIPHERS } from '../protocol/tls-suites.ts';
import { AgentConnections } from './agent-connections.ts';
import type { AgentRooms } from './agent-rooms.ts';
import { AgentSession } from './agent-session.ts';

/** How long a TLS handshake may take; milliseconds. An agent without a deadline of its own would wait for ever. */
const HANDSHAKE_MS = 10_000;

export interface AgentListener {
  /** Not listening yet. */
  readonly server: Server;
  /** Ends listening, then the sessions, then whatever is still connected. */
  close(endSessions: () => Promise<void>): Promise<void>;
}

/**
 * @param identity the listener's own certificate and key, in PEM.
 * @param contextOf a certificate of the operator's for the name that an agent asks for, where there is one.
 */
export function createAgentListener(
  identity: { cert: string; key: string },
  contextOf: (name: string) => SecureContext | undefined,
  rooms: AgentRooms,
): AgentListener {
  const server = createServer({
    ...identity,
    SNICallback(name, done) {
      try {
        done(null, contextOf(name));
      } catch (error) {
        rooms.onFailure(error);
        done(error as Error);
      }
    },
    handshakeTimeout: HANDSHAKE_MS,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    noDelay: true,
  });
  const { refusals } = rooms.sessions;
  const connections = new AgentConnections(rooms.settings.maxAgents, () => refusals.add('tooManyConnections'));
  server.on('error', () => {}); // One connection could not be accepted, for want of descriptors; the next may be.
  server.on('connection', (socket) => connections.admit(socket));
  server.on('secureConnection', (socket: TLSSocket) => {
    const ends = { remoteAddress: socket.remoteAddress, remotePort: socket.remotePort };
    new AgentSession(socket, rooms, () => connections.authenticated(ends));
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // Who goes without a word may be a load balancer that looks whether somebody listens.
    if (error.code !== 'ECONNRESET') refusals.add('tlsFailed');
    socket.destroy(); // Of a handshake that takes too long, Node only tells.
  });
  return {
    server,
    async close(endSessions) {
      const closed = new Promise((resolve) => server.close(resolve));
      await endSessions();
      connections.close();
      await closed;
    },
  };
}
