// A port that nobody uses.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** @returns a port at this address that was free a moment ago: somebody else may take it. */
export async function freePort(host: string): Promise<number> {
  const server = createServer();
  server.listen({ port: 0, host, exclusive: true });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
