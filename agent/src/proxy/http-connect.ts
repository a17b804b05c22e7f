// Asks an HTTP proxy for a connection by CONNECT (RFC 9110 section 9.3.6).

import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { ForwardProxy } from '../gateway-client.ts';
import { ProxyError } from './proxy-error.ts';
import { loginError } from './socks5.ts';

const LOGIN_REQUIRED = 407;

/**
 * Opens a connection to the target on a connected socket. A name is looked up by the proxy.
 * @param proxyName the proxy in messages. @param targetName the target, as host:port.
 * @throws {ProxyError} @throws {Error} when the connection ends first.
 */
export function httpConnect(
  socket: Socket,
  { login }: Pick<ForwardProxy, 'login'>,
  proxyName: string,
  targetName: string,
): Promise<void> {
  const credentials = login && Buffer.from(`${login.user}:${login.password}`).toString('base64');
  const headers = {
    host: targetName,
    ...(credentials ? { 'proxy-authorization': `Basic ${credentials}` } : {}),
  };
  return new Promise((resolve, reject) => {
    const asked = request({ method: 'CONNECT', path: targetName, headers, createConnection: () => socket });
    asked.on('connect', ({ statusCode: status = 0, statusMessage = '' }, _, head: Buffer) => {
      if (status === LOGIN_REQUIRED) return reject(loginError(proxyName, login !== null));
      if (status < 200 || status > 299)
        return reject(
          new ProxyError(
            'PROXY_REFUSED',
            `the proxy at ${proxyName} does not connect to ${targetName}: ${status} ${statusMessage}`.trimEnd(),
          ),
        );
      if (head.length > 0) socket.unshift(head);
      resolve();
    });
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // The codes of Node's parser begin so.
      if (error.code?.startsWith('HPE_'))
        return reject(new ProxyError('PROXY_PROTOCOL', `what listens at ${proxyName} is no HTTP proxy`));
      reject(error);
    });
    asked.end();
  });
}
