// Fetches published keys and certificates. Unless the operator allows private addresses, only public ones are reached;
// otherwise the author of a URL could reach the gateway's private network (SSRF).

import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { guardedLookup, type ResolveHost } from '../../net/public-addresses.ts';
import type { ReachableHosts } from '../../net/reachable-hosts.ts';
import { CLIENT_TLS } from '../../protocol/tls-suites.ts';

/** The default timeout of the whole response; milliseconds. */
const TIMEOUT_MS = 5000;

/** The servers that may be reached, and how. */
export interface FetchReach {
  hosts: ReachableHosts;
  /** The timeout of the whole response, in milliseconds; 5000 when left out. */
  timeout?: number;
  /** A server that stands in for the Internet, in tests. */
  standIn?: StandInServer;
}

/** One server that stands in for all hosts, in tests. */
export interface StandInServer {
  /** Resolves the names of hosts. */
  resolve: ResolveHost;
  /** The port instead of 443. */
  port: number;
  /** The trusted CA certificate, in PEM, instead of the public ones. */
  ca: string;
}

/** The expected response. */
export interface FetchLimits {
  /** The accepted media type. */
  type: string;
  bytesMax: number;
}

/**
 * Fetches a URL. Redirects are not followed, as they could lead to a private address.
 * @param url an https URL, or an http URL when the caller allows that. The caller checks a URL with an IP address.
 * @throws {Error} unless every address of the host is allowed, and the response is 200 with at most `bytesMax` bytes in
 * time.
 */
export function fetchBytes(url: URL, { type, bytesMax }: FetchLimits, reach: FetchReach): Promise<Buffer> {
  const { hosts, timeout = TIMEOUT_MS, standIn } = reach;
  const send = url.protocol === 'https:' ? overHttps : overHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      agent: false,
      headers: { accept: type, host: url.host },
      lookup: guardedLookup(hosts.ruleOf(url.hostname), notPublicError, standIn?.resolve),
      ...CLIENT_TLS,
      ...(standIn && { port: standIn.port, ca: standIn.ca }),
      signal: AbortSignal.timeout(timeout),
    });
    request.on('error', reject).on('response', (response) => {
      const fail = (reason: string) => request.destroy(new Error(reason));
      if (response.statusCode !== 200) return void fail(`it answered ${response.statusCode}`);
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('error', reject).on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bytesMax) fail(`it has more than ${bytesMax} bytes`);
        chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks)));
    });
    request.end();
  });
}

/** The error of a look-up that leads to a forbidden address. */
export const notPublicError = (address: string) => new Error(`its address ${address} is not a public one`);
