// Where agents connect: TLS, and a session for each.

import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
import { AgentSession } from './agent-session.ts';
import type { AgentRooms } from './agent-sessions.ts';

/** How long a TLS handshake may take; milliseconds. An agent without a deadline of its own would wait for ever. */
const HANDSHAKE_MS = 10_000;

/**
 * @param identity the listener's own certificate and key, in PEM.
 * @param contextOf a certificate of the operator's for the name that an agent asks for, where there is one.
 */
export function createAgentListener(
  identity: { cert: string; key: string },
  contextOf: (name: string) => SecureContext | undefined,
  rooms: AgentRooms,
): Server {
  const server = createServer({
    ...identity,
    SNICallback: (name, done) => done(null, contextOf(name)),
    handshakeTimeout: HANDSHAKE_MS,
    minVersion: 'TLSv1.2',
    noDelay: true,
  });
  server.on('secureConnection', (socket: TLSSocket) => new AgentSession(socket, rooms));
  // A handshake that fails is the visitor's trouble; the socket is closed by Node.
  server.on('tlsClientError', () => {});
  return server;
}
