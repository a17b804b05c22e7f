// The upstream behind an agent: a small HTTP server whose responses can be made to fail.

import { once } from 'node:events';
import { createServer } from 'node:http';

export async function startUpstream() {
  const state = { isFailing: false };
  const server = createServer((request, response) => {
    response.statusCode = state.isFailing ? 500 : 200;
    response.setHeader('content-type', 'text/plain');
    response.end(`seen ${request.method} ${request.url}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    port,
    /** @param {boolean} isFailing */
    fail(isFailing) {
      state.isFailing = isFailing;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
