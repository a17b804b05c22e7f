// The fetch function of requests to identity providers, whose URLs tenants choose. Unless the operator allows private addresses,
// only public ones are reached; redirects are not followed, as they could lead to a private one.

import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { CustomFetch, CustomFetchOptions } from 'openid-client';
import { guardedLookup } from '../net/public-addresses.ts';
import type { ReachableHosts } from '../net/reachable-hosts.ts';
import { fetchProblem } from '../policy/auth/fetch-json.ts';
import { notPublicError, type StandInServer } from '../policy/keys/fetch-bytes.ts';
import { CLIENT_TLS } from '../protocol/tls-suites.ts';

const BYTES_MAX = 512 * 1024;
/** How long a whole response may take; milliseconds. */
export const FETCH_TIMEOUT_MS = 10_000;

/** Something was not fetched: the URL is not allowed, or there was no response of the right size in time. */
export class FetchFailed extends Error {}

/**
 * Makes the function.
 * @param hosts what may be reached; any: also plain HTTP to this machine.
 * @param standIn a server that stands in for all others, in tests.
 */
export function guardedFetch(hosts: ReachableHosts, standIn?: StandInServer): CustomFetch {
  return async (url, options) => {
    const problem = fetchProblem(url, hosts);
    if (problem) throw new FetchFailed(`${url} ${problem}`);
    try {
      return await fetchOnce(new URL(url), options, hosts, standIn);
    } catch (error) {
      throw new FetchFailed(
        `${originOf(url)} could not be asked: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
}

const originOf = (url: string) => new URL(url).origin + new URL(url).pathname;

function fetchOnce(
  url: URL,
  options: CustomFetchOptions,
  hosts: ReachableHosts,
  standIn: StandInServer | undefined,
): Promise<Response> {
  const { method, headers, body } = options;
  const payload =
    body == null ? undefined : Buffer.from(body instanceof URLSearchParams ? body.toString() : (body as string));
  const send = url.protocol === 'https:' ? overHttps : overHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      agent: false,
      method,
      headers: { ...headers, host: url.host, ...(payload && { 'content-length': payload.length }) },
      lookup: guardedLookup(hosts.ruleOf(new URL(url).hostname), notPublicError, standIn?.resolve),
      ...CLIENT_TLS,
      ...(standIn && { port: standIn.port, ca: standIn.ca }),
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    request.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('error', reject).on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > BYTES_MAX) request.destroy(new Error(`it answered with more than ${BYTES_MAX} bytes`));
        chunks.push(chunk);
      });
      response.on('end', () => {
        const { statusCode: status = 0 } = response;
        const fields = new Headers();
        for (let i = 0; i < response.rawHeaders.length; i += 2)
          fields.append(response.rawHeaders[i] as string, response.rawHeaders[i + 1] as string);
        if (status < 200 || status > 599) return reject(new Error(`it answered ${status}`));
        const isEmpty = status === 204 || status === 205 || status === 304;
        resolve(new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers: fields }));
      });
    });
    request.end(payload);
  });
}
