// Connects to the gateway: TCP, or a proxy, then TLS, each with its own timeout.

import { connect, isIP, type Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import type { ForwardProxy } from '../gateway-client.ts';
import { lookupForConnect } from '../look-up.ts';
import { connectThrough } from '../proxy/connect-through.ts';
import { type Place, writePlace } from './places.ts';
import type { ClientTiming } from './timing.ts';

/** The gateway to connect to. */
export interface DialOptions extends Place {
  /** As in `ClientOptions`. */
  ca: string | undefined;
  /** The proxy in between; null for none. TLS is with the gateway all the same: the proxy sees no more than its name. */
  proxy: ForwardProxy | null;
}

/** The idle time before TCP keep-alive probes; milliseconds. Heartbeats cover sessions; this covers what comes before. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Connects. After a failure no socket stays open.
 * @throws {Error} the failed step and its reason; also when `signal` is aborted.
 */
export async function dial(
  { host, port, address, ca, proxy }: DialOptions,
  timing: Pick<ClientTiming, 'dial' | 'tls'>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const place = writePlace({ host, port, address });
  const tcp = proxy
    ? await connectThrough(proxy, { host, port }, { ca, timeout: timing.dial, signal })
    : await connectDirectly({ host: address ?? host, port }, place, timing.dial, signal);
  // An IP address is no server name (RFC 6066); the certificate is then checked against the address.
  const servername = isIP(host) ? '' : host;
  const secure = tlsConnect({ socket: tcp, host, servername, ca, minVersion: 'TLSv1.2' });
  await step(secure, 'secureConnect', `TLS with the gateway at ${place} failed`, timing.tls, signal);
  return secure;
}

async function connectDirectly(
  target: { host: string; port: number },
  place: string,
  timeout: number,
  signal: AbortSignal,
): Promise<Socket> {
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, lookup: lookupForConnect };
  const tcp = connect({ ...target, ...options });
  await step(tcp, 'connect', `the gateway at ${place} cannot be reached`, timeout, signal);
  return tcp;
}

function step(socket: Socket, event: string, what: string, deadline: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (reason?: string) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off(event, onDone).off('close', onClose);
      if (reason === undefined) return resolve();
      socket.destroy();
      reject(new Error(`${what}: ${reason}`));
    };
    const onDone = () => settle();
    const onClose = () => settle('the connection was closed');
    const onAbort = () => settle('it was aborted');
    const timer = setTimeout(() => settle(`no answer within ${deadline} ms`), deadline);
    signal.addEventListener('abort', onAbort);
    // The error listener stays attached: an error between two steps must not end the process.
    socket
      .on(event, onDone)
      .on('close', onClose)
      .on('error', (error) => settle(describe(error)));
    if (signal.aborted) onAbort();
  });
}

function describe(error: Error & { code?: string }): string {
  // A name with several addresses fails with one error for each address.
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join(', ');
  return error.code && !error.message.includes(error.code) ? `${error.message} (${error.code})` : error.message;
}
