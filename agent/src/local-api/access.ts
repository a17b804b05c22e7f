// Who may ask the local API: nobody through a page of another site, and where a token is set, nobody without it.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type ApiResponse, detailResponse } from './responses.ts';

export interface AccessSettings {
  /** The host that the API was told to listen on. */
  boundHost: string;
  /** The name that it is published under. */
  domain: string | null;
  token: string | null;
}

/**
 * A page can make a browser send requests here under a name of its own that it lets lead here (DNS rebinding), or across
 * sites; a tunnel can lead here. Neither knows us by our names.
 * @returns the refusal; undefined when it may pass.
 */
export function checkHostAndOrigin(
  request: IncomingMessage,
  { boundHost, domain }: AccessSettings,
): ApiResponse | undefined {
  const { host = '', origin } = request.headers;
  const name = nameOf(host);
  const own = [boundHost.toLowerCase(), domain, address(request.socket.localAddress)];
  if (name === '' || !(isLoopback(name) || own.includes(name)))
    return detailResponse(
      403,
      `The agent's API is not known as "${host}": ask for a loopback name, its address, or AGENT_DOMAIN.`,
    );
  if (origin !== undefined && originHost(origin) !== withoutUsualPort(host))
    return detailResponse(403, `Pages of ${origin} may not ask the agent's API.`);
  return undefined;
}

/** @returns the refusal; undefined when the token is right, or none is set. */
export function checkToken(request: IncomingMessage, { token }: AccessSettings): ApiResponse | undefined {
  if (token === null) return undefined;
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (timingSafeEqual(digest(given), digest(token))) return undefined;
  return detailResponse(401, 'Send the AGENT_API_TOKEN in the header "Authorization: Bearer <token>".', {
    'www-authenticate': 'Bearer',
  });
}

/** Of equal length, whatever was sent. */
const digest = (text: string) => createHash('sha256').update(text).digest();

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** The host without port, brackets and the dot at its end. */
function nameOf(host: string): string {
  const [, v6, name = ''] = /^(?:\[([^\]]+)\]|([^:]*))(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
  return v6 ?? name.replace(/\.$/, '');
}

/** IPv4 as such, where the socket takes both kinds. */
const address = (text = '') => text.replace(/^::ffff:(?=\d+\.)/, '');

function originHost(origin: string): string | undefined {
  return /^https?:\/\//i.test(origin) && URL.canParse(origin) ? withoutUsualPort(new URL(origin).host) : undefined;
}

const withoutUsualPort = (host: string) => host.toLowerCase().replace(/:(80|443)$/, '');
