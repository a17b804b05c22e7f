// Connections of the gateway to its own public listeners, as a visitor would make them.

import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { unmapIpv4 } from '../tunnel/network/peer.ts';

/** The loopback address for a listener on all addresses. */
const LOOPBACK: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export interface OwnListeners {
  /** The addresses of this node's public listeners. */
  listeners: Record<'http' | 'https', Pick<AddressInfo, 'address' | 'port'>>;
  /** The PROXY protocol header that a connection to a listener must start with; undefined or left out when there is none. */
  proxyHeader?(listener: 'http' | 'https', ip: string): Buffer | undefined;
}

/**
 * Connects to a listener, and with `https` shakes hands for the name of the host. Only the listener decides who serves that name.
 * @param protocols what is offered in the handshake (ALPN).
 * @throws {Error} when it cannot be reached, or the handshake fails; an `AbortError` when the signal comes before.
 */
export async function connectToListener(
  { listeners, proxyHeader }: OwnListeners,
  { scheme, host }: { scheme: 'http' | 'https'; host: string },
  signal: AbortSignal,
  protocols: string[] = ['http/1.1'],
): Promise<Socket> {
  const { address, port } = listeners[scheme];
  const to = { host: LOOPBACK[address] ?? address, port };
  const servername = host.replace(/:\d*$/, '').replace(/\.$/, '');
  const socket = connect(to);
  socket.on('error', () => {}); // The functions that wait for the socket get its errors.
  try {
    await once(socket, 'connect', { signal });
    const header = proxyHeader?.(scheme, unmapIpv4(socket.localAddress ?? ''));
    if (header) socket.write(header);
    if (scheme === 'http') return socket;
    // The listener is our own, so its certificate needs no verification.
    const tls = connectTls({ socket, servername, ALPNProtocols: protocols, rejectUnauthorized: false });
    tls.on('error', () => {}); // As above.
    await once(tls, 'secureConnect', { signal });
    return tls;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
