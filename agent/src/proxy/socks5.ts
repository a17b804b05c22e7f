// Asks a SOCKS proxy for a connection: version 5 (RFC 1928), with a user name and a password where it asks for them (RFC 1929).

import { isIP, type Socket } from 'node:net';
import type { ForwardProxy } from '../gateway-client.ts';
import { ProxyError } from './proxy-error.ts';

const VERSION = 5;
const LOGIN_VERSION = 1;
const NO_LOGIN = 0;
const BY_PASSWORD = 2;
const NOTHING_FITS = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const ADDRESS_BYTES: Record<number, number> = { [IPV4]: 4, [IPV6]: 16 };

/** The replies other than success (RFC 1928 section 6). */
const REPLIES = [
  'general failure',
  'not allowed by its rules',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'time to live expired',
  'CONNECT is not supported',
  'this kind of address is not supported',
];

/**
 * Opens a connection to the target on a connected socket. A name is looked up by the proxy.
 * @param proxyName the proxy in messages. @param targetName the target in messages.
 * @throws {ProxyError} @throws {Error} when the connection ends first.
 */
export async function socksConnect(
  socket: Socket,
  { login }: Pick<ForwardProxy, 'login'>,
  target: { host: string; port: number },
  proxyName: string,
  targetName: string,
): Promise<void> {
  const read = (bytes: number) => readExactly(socket, bytes);
  const protocolError = () => new ProxyError('PROXY_PROTOCOL', `what listens at ${proxyName} is no SOCKS5 proxy`);
  socket.write(Buffer.from(login ? [VERSION, 2, NO_LOGIN, BY_PASSWORD] : [VERSION, 1, NO_LOGIN]));
  const [version, method] = await read(2);
  if (version !== VERSION) throw protocolError();
  if (method === NOTHING_FITS) throw loginError(proxyName, login !== null);
  if (method === BY_PASSWORD && login) {
    const texts = [login.user, login.password].flatMap((text) => [Buffer.from([Buffer.byteLength(text)]), text]);
    socket.write(Buffer.concat([Buffer.from([LOGIN_VERSION]), ...texts.map((part) => Buffer.from(part))]));
    const [, status] = await read(2);
    if (status !== 0) throw loginError(proxyName, true);
  } else if (method !== NO_LOGIN) throw protocolError();

  socket.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), addressBytes(target)]));
  const [replyVersion, reply = 0, , kind = 0] = await read(4);
  if (replyVersion !== VERSION) throw protocolError();
  if (reply !== 0)
    throw new ProxyError(
      'PROXY_REFUSED',
      `the proxy at ${proxyName} does not connect to ${targetName}: ${REPLIES[reply - 1] ?? `reply ${reply}`}`,
    );
  const length = kind === NAME ? (await read(1))[0] : ADDRESS_BYTES[kind];
  if (length === undefined) throw protocolError();
  await read(length + 2); // The address and the port that the proxy connects from.
}

/** The refusal of a login. @param wasSent whether the agent has sent one. */
export function loginError(proxyName: string, wasSent: boolean): ProxyError {
  const what = wasSent ? 'does not take the user name and the password' : 'wants a user name and a password';
  return new ProxyError('PROXY_LOGIN', `the proxy at ${proxyName} ${what}`);
}

function addressBytes({ host, port }: { host: string; port: number }): Buffer {
  const portBytes = Buffer.from([port >> 8, port & 0xff]);
  if (isIP(host) === 4) return Buffer.from([IPV4, ...host.split('.').map(Number), ...portBytes]);
  if (isIP(host) === 6) return Buffer.concat([Buffer.from([IPV6]), ipv6Bytes(host), portBytes]);
  return Buffer.concat([Buffer.from([NAME, Buffer.byteLength(host)]), Buffer.from(host), portBytes]);
}

function ipv6Bytes(address: string): Buffer {
  // The URL parser writes an address in one form, without a dotted part.
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [head, tail] = [groups(left), groups(right ?? '')];
  const all = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** Reads so many bytes; what comes after them stays in the socket. */
function readExactly(socket: Socket, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      socket.off('readable', onReadable).off('close', onClose).off('end', onClose);
      finish();
    };
    const onReadable = () => {
      const chunk: Buffer | null = socket.read(bytes);
      if (chunk?.length === bytes) settle(() => resolve(chunk));
    };
    const onClose = () => settle(() => reject(new Error('the connection was closed')));
    socket.on('readable', onReadable).once('close', onClose).once('end', onClose);
    onReadable();
  });
}
