// The connection to the gateway: TCP, then TLS, each with a deadline of its own.

import { connect, isIP, type Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import type { ClientTiming } from './timing.ts';

export interface DialOptions {
  host: string;
  port: number;
  /** As in `ClientOptions`. */
  ca: string | undefined;
}

/** How long a connection may be silent before the kernel looks after it. Heartbeats come first; this is for the rest. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Connects. Nothing is left open when it fails.
 * @throws {Error} which step failed, and why; also when `signal` is aborted.
 */
export async function dial(
  { host, port, ca }: DialOptions,
  timing: Pick<ClientTiming, 'dial' | 'tls'>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const tcp = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
  await step(tcp, 'connect', `the gateway at ${place} cannot be reached`, timing.dial, signal);
  // Without a name to send, the certificate is checked against the address.
  const servername = isIP(host) ? '' : host;
  const secure = tlsConnect({ socket: tcp, host, servername, ca, minVersion: 'TLSv1.2' });
  await step(secure, 'secureConnect', `TLS with the gateway at ${place} failed`, timing.tls, signal);
  return secure;
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
    const onAbort = () => settle('it was given up');
    const timer = setTimeout(() => settle(`no answer within ${deadline} ms`), deadline);
    signal.addEventListener('abort', onAbort);
    // The listener for errors stays: an error between two steps must not end the process.
    socket
      .on(event, onDone)
      .on('close', onClose)
      .on('error', (error) => settle(describe(error)));
    if (signal.aborted) onAbort();
  });
}

function describe(error: Error & { code?: string }): string {
  // Of a name with several addresses, each of which failed.
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join(', ');
  return error.code && !error.message.includes(error.code) ? `${error.message} (${error.code})` : error.message;
}
