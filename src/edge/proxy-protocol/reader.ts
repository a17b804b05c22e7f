// A connection's first bytes, as far as the header of the PROXY protocol goes and not a byte further.

import type { Socket } from 'node:net';
import { peerOf, setProxiedPeer } from '../../tunnel/network/peer.ts';
import { readProxyProtocol } from './header.ts';

/**
 * Reads the header. The socket is left as one of which nothing was read: what followed the header is still in it.
 * @param onRead called in the same turn as the last byte of the header is read, when the socket's peer is named.
 * @param onFailure called once, after which the socket is of no use; `reason` is undefined where it was closed without a
 * byte, as the checks of balancers are.
 * @returns gives up: neither is called any more.
 */
export function readHeader(
  socket: Socket,
  onRead: () => void,
  onFailure: (reason: string | undefined) => void,
): () => void {
  let bytes: Buffer = EMPTY;
  const listeners = { readable: read, end: ended, error: () => {}, close: ended };
  function stop(): void {
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
  }
  function fail(reason: string | undefined): void {
    stop();
    socket.on('error', () => {}); // Nothing is to be done for it.
    onFailure(reason);
  }
  function ended(): void {
    fail(bytes.length === 0 ? undefined : 'it is cut short');
  }
  function read(): void {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const reading = readProxyProtocol(bytes);
    if (reading.state === 'more') return;
    if (reading.state === 'malformed') return void fail(reading.reason);
    const { length, peer } = reading;
    if (bytes.length > length) socket.unshift(bytes.subarray(length));
    const known = peer ?? peerOf(socket);
    if (known) setProxiedPeer(socket, known, length);
    // Only with the last `readable` listener gone does a socket flow again for those who listen to `data`.
    stop();
    onRead();
  }
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  return stop;
}

const EMPTY = Buffer.alloc(0);
