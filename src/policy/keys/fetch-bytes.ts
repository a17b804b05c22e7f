// Fetches what others publish about their keys: only from public addresses, unless the operator lets others be reached.
// Whoever names a host could have the gateway ask its neighbours otherwise.

import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { guardedLookup, isPublicAddress, type ResolveHost } from '../../net/public-addresses.ts';

/** Milliseconds that the whole answer may take. */
const TIMEOUT = 5000;

/** How others are reached. */
export interface FetchReach {
  /** Whether addresses that are not public may be asked. */
  isPrivateAllowed: boolean;
  /** Milliseconds that the whole answer may take. Default 5000. */
  timeout?: number;
  /** What stands in for the Internet; left out: itself. */
  standIn?: StandInServer;
}

/** One server in the place of all hosts: for tests. */
export interface StandInServer {
  /** Where names lead. */
  resolve: ResolveHost;
  /** In place of 443. */
  port: number;
  /** The authority, in PEM, that is trusted in place of the public ones. */
  ca: string;
}

export interface FetchLimits {
  /** The media type to ask for. */
  type: string;
  bytesMax: number;
}

/**
 * Fetches what a URL leads to. Redirections are not followed: they could lead anywhere.
 * @param url of https, or of http where the caller allows that. An address in the place of a name is for the caller to check.
 * @throws unless each address of its host may be asked, and 200 with at most `bytesMax` bytes is there in time.
 */
export function fetchBytes(url: URL, { type, bytesMax }: FetchLimits, reach: FetchReach): Promise<Buffer> {
  const { isPrivateAllowed, timeout = TIMEOUT, standIn } = reach;
  const send = url.protocol === 'https:' ? overHttps : overHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      agent: false,
      headers: { accept: type, host: url.host },
      lookup: guardedLookup(isPrivateAllowed ? () => true : isPublicAddress, notPublicError, standIn?.resolve),
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

/** What a look-up fails with that leads to an address that must not be asked. */
export const notPublicError = (address: string) => new Error(`its address ${address} is not a public one`);
