// Sessions of TLS that a visitor agrees on, and offers again.

import { once } from 'node:events';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

/** A session that may be offered again. */
export async function sessionOf(socket: TLSSocket): Promise<Buffer> {
  if (socket.getProtocol() === 'TLSv1.2') return socket.getSession() as Buffer;
  const tls13 = once(socket, 'session');
  // TLS 1.3 sends it behind the handshake; what is read brings it.
  socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [session] = await tls13;
  return session as Buffer;
}

/** A visitor's connection at a listener, once it is agreed on. @param listener `host:port`. */
async function secured(listener: string, options: ConnectionOptions): Promise<TLSSocket> {
  const [host = '', port] = listener.split(':');
  const socket = connect({ host, port: Number(port), ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** Agrees on a session. */
export async function newSession(listener: string, options: ConnectionOptions): Promise<Buffer> {
  const socket = await secured(listener, options);
  const session = await sessionOf(socket);
  socket.destroy();
  return session;
}

/** Whether a session is resumed. */
export async function resumes(listener: string, options: ConnectionOptions): Promise<boolean> {
  const socket = await secured(listener, options);
  const isResumed = socket.isSessionReused();
  socket.destroy();
  return isResumed;
}
