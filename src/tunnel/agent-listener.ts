// Where agents connect: TLS, and a session for each.

import type { Socket } from 'node:net';
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
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
    SNICallback: (name, done) => done(null, contextOf(name)),
    handshakeTimeout: HANDSHAKE_MS,
    minVersion: 'TLSv1.2',
    noDelay: true,
  });
  server.on('secureConnection', (socket: TLSSocket) => new AgentSession(socket, rooms));
  server.on('tlsClientError', (_, socket) => socket.destroy()); // Of a handshake that takes too long, Node only tells.
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return {
    server,
    async close(endSessions) {
      const closed = new Promise((resolve) => server.close(resolve));
      await endSessions();
      for (const socket of connections) socket.destroySoon();
      await closed;
    },
  };
}
