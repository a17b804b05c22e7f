// The proof that a worker serves: it visits itself.

import { connect } from 'node:net';
import type { DataPlane } from '../gateway/data-plane-types.ts';

const TIMEOUT_MS = 5000;
/** No endpoint can have this name (RFC 6761, section 6.4), so the response is the gateway's own. */
const REQUEST = 'GET / HTTP/1.1\r\nHost: self-check.invalid\r\nConnection: close\r\n\r\n';

/** Sends a request to the HTTP listener. @throws when no response comes in time. */
export function visitItself({
  ownListeners,
  localHeader,
}: Pick<DataPlane, 'ownListeners' | 'localHeader'>): Promise<void> {
  const { address: host, port } = ownListeners.http;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('the worker does not answer itself')));
    socket.on('connect', () => {
      const header = localHeader('http', host);
      if (header) socket.write(header);
      socket.write(REQUEST);
    });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (received.startsWith('HTTP/1.1 ')) resolve();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the worker closes the connection to itself')));
  });
}
