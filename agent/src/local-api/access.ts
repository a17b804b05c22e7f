// Access control of the local API: against DNS rebinding and cross-site requests, and by token when one is set.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type ApiResponse, detailResponse } from './responses.ts';

/** The names of the API and its token. */
export interface AccessSettings {
  /** The host in AGENT_API_ADDR. */
  boundHost: string;
  /** The domain that the API is published under; null when it is not published. */
  domain: string | null;
  token: string | null;
}

/**
 * Checks that the request is for a name of the API. A web page can make a browser send requests to its own domain that
 * resolves to this machine (DNS rebinding), or cross-site requests; a tunnel may also forward to the API.
 * @returns the refusal; undefined when the request is allowed.
 */
export function checkHostAndOrigin(
  request: IncomingMessage,
  { boundHost, domain }: AccessSettings,
): ApiResponse | undefined {
  const { host = '', origin } = request.headers;
  const name = nameOf(host);
  const ownNames = [boundHost.toLowerCase(), domain, unmappedAddress(request.socket.localAddress)];
  if (name === '' || !(isLoopback(name) || ownNames.includes(name)))
    return detailResponse(
      403,
      `The agent's API is not known as "${host}": ask for a loopback name, its address, or AGENT_DOMAIN.`,
    );
  if (origin !== undefined && originHost(origin) !== withoutDefaultPort(host))
    return detailResponse(403, `Pages of ${origin} may not ask the agent's API.`);
  return undefined;
}

/** Checks the bearer token. @returns the refusal; undefined when the token is correct, or none is set. */
export function checkToken(request: IncomingMessage, { token }: AccessSettings): ApiResponse | undefined {
  if (token === null) return undefined;
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (timingSafeEqual(digest(given), digest(token))) return undefined;
  return detailResponse(401, 'Send the AGENT_API_TOKEN in the header "Authorization: Bearer <token>".', {
    'www-authenticate': 'Bearer',
  });
}

/** A digest, as `timingSafeEqual` needs values of equal length. */
const digest = (text: string) => createHash('sha256').update(text).digest();

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** The host without port, brackets and trailing dot. */
function nameOf(host: string): string {
  const [, v6, name = ''] = /^(?:\[([^\]]+)\]|([^:]*))(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
  return v6 ?? name.replace(/\.$/, '');
}

/** The address without the IPv6 prefix that a dual-stack socket gives to IPv4. */
const unmappedAddress = (text = '') => text.replace(/^::ffff:(?=\d+\.)/, '');

function originHost(origin: string): string | undefined {
  return /^https?:\/\//i.test(origin) && URL.canParse(origin) ? withoutDefaultPort(new URL(origin).host) : undefined;
}

const withoutDefaultPort = (host: string) => host.toLowerCase().replace(/:(80|443)$/, '');
