// A port that nobody uses.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * @returns a port at this address that is free, and that the system gives to nobody who does not ask for it by number: that of a
 * connection that has just ended (TIME_WAIT) is not used for others for a minute, but can be listened at.
 */
export async function freePort(host: string): Promise<number> {
  const server = createServer();
  server.listen({ port: 0, host, exclusive: true });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect({ port, host: LOOPBACK[host] ?? host }).resume();
  const [socket] = await accepted;
  socket.resume().end(); // The side that ends first keeps the port.
  await Promise.all([once(client, 'close'), once(socket, 'close')]);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Where a listener at all addresses can be reached. */
const LOOPBACK: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
