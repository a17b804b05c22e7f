// A connection to the gateway through a proxy.

import { connect, isIP, type Socket } from 'node:net';
import { rootCertificates, connect as tlsConnect } from 'node:tls';
import type { ForwardProxy } from '../gateway-client.ts';
import { lookupForConnect } from '../look-up.ts';
import { httpConnect } from './http-connect.ts';
import { ProxyError } from './proxy-error.ts';
import { socksConnect } from './socks5.ts';

export { ProxyError } from './proxy-error.ts';

/** The idle time before TCP keep-alive probes; milliseconds. */
const KEEP_ALIVE_MS = 30_000;

/** How to connect through a proxy. */
export interface ThroughOptions {
  /** Certificates to trust for a proxy that speaks TLS, in PEM, beside those that Node trusts. */
  ca: string | undefined;
  /** How long all of it may take; milliseconds. */
  timeout: number;
  /** Ends the attempt when it is aborted. */
  signal?: AbortSignal;
}

/** Formats a proxy for people, without its login. */
export function writeProxy({ scheme, host, port }: ForwardProxy): string {
  return `${scheme}://${writeTarget({ host, port })}`;
}

/**
 * Connects to the target, which the proxy looks up where it is a name. After a failure no socket stays open.
 * @returns a socket whose other end is the target. Its error listener stays attached.
 * @throws {ProxyError} when the proxy cannot be reached or does not lead there; also when `signal` is aborted.
 */
export async function connectThrough(
  proxy: ForwardProxy,
  target: { host: string; port: number },
  options: ThroughOptions,
): Promise<Socket> {
  const [proxyName, targetName] = [writeProxy(proxy), writeTarget(target)];
  const { socket, connected } = openSocket(proxy, options.ca);
  const failure = watch(socket, options);
  let what = `the proxy at ${proxyName} cannot be reached`;
  try {
    await Promise.race([connected, failure.happened]);
    what = `the proxy at ${proxyName} does not connect to ${targetName}`;
    const asked =
      proxy.scheme === 'socks5'
        ? socksConnect(socket, proxy, target, proxyName, targetName)
        : httpConnect(socket, proxy, proxyName, targetName);
    await Promise.race([asked, failure.happened]);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error instanceof ProxyError ? error : new ProxyError('PROXY_NET', `${what}: ${describe(error as Error)}`);
  } finally {
    failure.ignore();
  }
}

function openSocket(
  { scheme, host, port }: ForwardProxy,
  ca: string | undefined,
): { socket: Socket; connected: Promise<void> } {
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, lookup: lookupForConnect };
  const tcp = connect({ host, port, ...options });
  if (scheme !== 'https') return { socket: tcp, connected: event(tcp, 'connect') };
  const authorities = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
  const tls = tlsConnect({ socket: tcp, host, servername: isIP(host) ? '' : host, ...authorities });
  // A failure to connect is the lower socket's, and is told by the upper one.
  tcp.on('error', (error) => tls.destroy(error));
  return { socket: tls, connected: event(tls, 'secureConnect') };
}

const event = (socket: Socket, name: string) => new Promise<void>((resolve) => socket.once(name, () => resolve()));

/** Rejects `happened` when the socket fails or closes, the time is over, or the attempt is aborted. */
function watch(socket: Socket, { timeout, signal }: ThroughOptions): { happened: Promise<never>; ignore(): void } {
  let ignore = () => {};
  const happened = new Promise<never>((_, reject) => {
    const fail = (reason: string) => reject(new Error(reason));
    const onAbort = () => fail('it was aborted');
    const timer = setTimeout(() => fail(`no answer within ${timeout} ms`), timeout);
    ignore = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort);
    // The error listener stays attached: an error between two steps must not end the process.
    socket.on('error', reject).once('close', () => fail('the connection was closed'));
    if (signal?.aborted) onAbort();
  });
  happened.catch(() => {}); // The connection may be lost much later, when nobody waits.
  return { happened, ignore };
}

const writeTarget = ({ host, port }: { host: string; port: number }) =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

function describe(error: Error & { code?: string }): string {
  // A name with several addresses fails with one error for each address.
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join(', ');
  return error.code && !error.message.includes(error.code) ? `${error.message} (${error.code})` : error.message;
}
