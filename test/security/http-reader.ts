// Connections that a test speaks HTTP on by hand, to read nothing of an answer or to break the rules.

import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** Opens a connection and writes to it; nothing is read until somebody resumes it. */
export async function opened(base: string, bytes = ''): Promise<Socket> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  await new Promise((resolve) => socket.once('connect', resolve));
  if (bytes) socket.write(bytes);
  return socket;
}

export const closed = (socket: Socket) =>
  new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));

export interface RawAnswer {
  status: number;
  head: string;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
  body: any;
}

/** Sends bytes and reads until the other side closes. */
export async function exchange(base: string, bytes: string): Promise<RawAnswer> {
  const socket = await opened(base, bytes);
  const whole = await text(socket);
  const [head = '', body = ''] = whole.split(/\r\n\r\n(.*)/s);
  return { status: Number(head.split(' ', 2)[1]), head, body: /^\s*\{/.test(body) ? JSON.parse(body) : body };
}
