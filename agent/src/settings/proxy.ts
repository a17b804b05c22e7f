// Which proxy leads to a host: the agent's own setting, or what the environment says by the convention of curl and Go.

import { BlockList, isIP } from 'node:net';
import type { ForwardProxy } from '../gateway-client.ts';
import type { HostAddress } from './host-address.ts';

/** Finds the proxy that leads to a host; null when there is none in between. */
export type ProxyFor = (target: HostAddress) => ForwardProxy | null;

const SCHEMES: Record<string, ForwardProxy['scheme']> = {
  'http:': 'http',
  'https:': 'https',
  'socks5:': 'socks5',
  'socks5h:': 'socks5',
};
const DEFAULT_PORTS: Record<ForwardProxy['scheme'], number> = { http: 80, https: 443, socks5: 1080 };
/** The most bytes of a user name and of a password in SOCKS (RFC 1929). */
const SOCKS_TEXT_MAX_BYTES = 255;

const FORM = 'must be the URL of a proxy, as http://user:password@proxy.example.com:3128 or socks5://127.0.0.1:1080';

/**
 * Parses the URL of a proxy. User name and password are percent-encoded in it.
 * @throws {Error} the expected form, without the text, which may have a password.
 */
export function readProxyUrl(text: string): ForwardProxy {
  // Without a scheme it is an HTTP proxy, by the convention.
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null;
  const scheme = url && SCHEMES[url.protocol];
  if (!url || !scheme || url.hostname === '' || !/^\/?$/.test(url.pathname) || url.search || url.hash)
    throw new Error(FORM);
  const user = decoded(url.username);
  const password = decoded(url.password);
  const tooLong = [user, password].some((each) => Buffer.byteLength(each) > SOCKS_TEXT_MAX_BYTES);
  if (scheme === 'socks5' && tooLong)
    throw new Error(`must have a user name and a password of at most ${SOCKS_TEXT_MAX_BYTES} bytes`);
  if (scheme !== 'socks5' && user.includes(':')) throw new Error('must have a user name without a colon');
  return {
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port),
    login: url.username === '' && url.password === '' ? null : { user, password },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`${FORM}; a % in the user name or the password is written %25`);
  }
}

/**
 * Parses `NO_PROXY`: names with their subdomains, addresses and CIDRs, each with `:port` or without, or `*` for every host.
 * What is none of these matches nothing, as in other programs.
 */
function readExceptions(text: string): (target: HostAddress) => boolean {
  const entries = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  const tests = entries.map((entry): ((host: string, port: number) => boolean) => {
    if (entry === '*') return () => true;
    const [, bracketed, plain = '', digits] = /^(?:\[([^\]]+)\]|([^:]*|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
    const name = bracketed ?? plain;
    const isPort = (port: number) => digits === undefined || port === Number(digits);
    const list = networkOf(name);
    if (list) return (host, port) => isPort(port) && isIP(host) > 0 && list.check(host, familyOf(host));
    const suffix = name.replace(/^\*?\./, '');
    return (host, port) =>
      suffix !== '' && isPort(port) && (host.endsWith(`.${suffix}`) || (host === suffix && !name.startsWith('.')));
  });
  return ({ host, port }) => tests.some((matches) => matches(host.toLowerCase().replace(/\.$/, ''), port));
}

function networkOf(text: string): BlockList | null {
  const [address = '', bits] = text.split('/');
  if (isIP(address) === 0) return null;
  const list = new BlockList();
  const length = bits === undefined ? (isIP(address) === 4 ? 32 : 128) : Number(bits);
  try {
    list.addSubnet(address, length, familyOf(address));
  } catch {
    return null;
  }
  return list;
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

const isLoopback = ({ host }: HostAddress) => /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);

/**
 * Chooses the proxy of each host. The agent's own setting holds for all of them. That of the environment holds neither for
 * loopback, which no proxy reaches, nor for the hosts of `NO_PROXY`.
 * @param own the agent's own setting, or null. @param usual that of the environment, or null. @param exceptions `NO_PROXY`.
 */
export function chooseProxy(own: ForwardProxy | null, usual: ForwardProxy | null, exceptions: string): ProxyFor {
  const isExcepted = readExceptions(exceptions);
  return (target) => own ?? (usual && !isLoopback(target) && !isExcepted(target) ? usual : null);
}
