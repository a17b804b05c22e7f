// Which URLs an ACME server may have.

import { BlockList, isIP } from 'node:net';
import { AcmeUnreachable } from './problem.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** @throws {AcmeUnreachable} when it is no URL, or one without TLS at another machine (RFC 8555, section 6.1). */
export function checkServerUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url) throw new AcmeUnreachable(`"${text}" is not a URL of an ACME server.`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const isLocal = host === 'localhost' || (family > 0 && loopback.check(host, family === 6 ? 'ipv6' : 'ipv4'));
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) return url;
  throw new AcmeUnreachable(
    `"${text}" does not begin with https://, without which an ACME server is asked at loopback addresses only.`,
  );
}
