// One HTTP request to an ACME server and its response, within a time and a size.

import type { IncomingHttpHeaders } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import { CLIENT_TLS } from '../../protocol/tls-suites.ts';
import { AcmeUnreachable } from './problem.ts';
import { retryAfterMs } from './retry-after.ts';
import { checkServerUrl } from './server-url.ts';

export interface AcmeHttpOptions {
  /** Authorities in PEM that are trusted besides those of Node. */
  ca?: string;
  /** How the client names itself, which RFC 8555 requires (section 6.1). */
  userAgent: string;
  /** For one request with its whole answer, in milliseconds; 30 seconds when left out. */
  timeoutMs?: number;
  /** Cancels the requests under way and all later ones, which fail with its reason. */
  signal?: AbortSignal;
  /** Gets the time that each answer says it was sent at (RFC 9110, section 6.6.1), in milliseconds since 1970. */
  onDate?(date: number): void;
}

export interface AcmeHttpResponse {
  /** Where the request was sent. */
  url: string;
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface AcmeHttpRequest {
  method: 'GET' | 'HEAD' | 'POST';
  url: string;
  accept?: string;
  /** What is posted, of the type `application/jose+json`. */
  body?: string;
}

const TIMEOUT_MS = 30_000;
const BODY_MAX_BYTES = 1_000_000;
/** Shorter than servers keep idle connections, so that a request meets none that is just being closed. */
const IDLE_MS = 3000;
const SOCKETS_MAX = 4;

/** The connections to one ACME server. */
export class AcmeHttp {
  readonly #options: AcmeHttpOptions;
  readonly #agents: { 'https:': HttpsAgent; 'http:': HttpAgent };

  /** @throws when `ca` is no certificate in PEM. */
  constructor(options: AcmeHttpOptions) {
    const { ca } = options;
    if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----'))
      throw new Error('The additional authorities of the ACME server must be certificates in PEM.');
    this.#options = options;
    const limits = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS };
    this.#agents = {
      'https:': new HttpsAgent({ ...limits, ...CLIENT_TLS, ...(ca && { ca: [...rootCertificates, ca] }) }),
      'http:': new HttpAgent(limits),
    };
  }

  /**
   * Sends a request once. @returns the response, whatever its status is, unless it is a redirection.
   * @throws {AcmeUnreachable} when there is no response that can be used, or the reason of the signal.
   */
  send({ method, url: text, accept = 'application/json', body }: AcmeHttpRequest): Promise<AcmeHttpResponse> {
    const { userAgent, timeoutMs = TIMEOUT_MS, signal, onDate } = this.#options;
    const url = checkServerUrl(text);
    return new Promise((resolve, reject) => {
      const fail = (problem: string, more?: { cause?: unknown; retryAfterMs?: number }) =>
        reject(new AcmeUnreachable(`The ACME server at ${url.host} ${problem}.`, more));
      const isTls = url.protocol === 'https:';
      const request = (isTls ? httpsRequest : httpRequest)(url, {
        method,
        agent: this.#agents[isTls ? 'https:' : 'http:'],
        signal,
        headers: {
          accept,
          'accept-language': 'en',
          'user-agent': userAgent,
          ...(body !== undefined && {
            'content-type': 'application/jose+json',
            'content-length': Buffer.byteLength(body),
          }),
        },
      });
      const timer = setTimeout(() => {
        fail(`did not answer within ${timeoutMs / 1000} seconds`);
        request.destroy();
      }, timeoutMs);
      const onError = (error: NodeJS.ErrnoException) =>
        signal?.aborted ? reject(signal.reason) : fail(describe(error), { cause: error });
      request.on('error', onError);
      let complete: AcmeHttpResponse | undefined;
      // Later than the end of the response, so that the next request can use the connection.
      request.on('close', () => {
        clearTimeout(timer);
        if (complete) resolve(complete);
      });
      request.on('response', (response) => {
        const { statusCode: status = 0, headers } = response;
        const date = Date.parse(headers.date ?? '');
        if (!Number.isNaN(date)) onDate?.(date);
        if (status >= 300 && status < 400) {
          fail(
            `redirects to ${headers.location ?? 'nowhere'}, which is not followed: configure the URL of the directory that the certificate authority documents`,
          );
          return request.destroy();
        }
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('error', onError);
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= BODY_MAX_BYTES) return chunks.push(chunk);
          fail(`answered with more than ${BODY_MAX_BYTES / 1_000_000} MB`, { retryAfterMs: retryAfterMs(headers) });
          request.destroy();
        });
        response.on('end', () => {
          complete = { url: text, status, headers, body: Buffer.concat(chunks).toString('utf8') };
        });
      });
      request.end(body);
    });
  }

  /** Closes the connections. Requests under way fail. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}

const texts: Record<string, string> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'closed the connection without a complete answer',
  EAI_AGAIN: 'cannot be looked up in the DNS',
  ENOTFOUND: 'has no address in the DNS',
  ETIMEDOUT: 'cannot be reached: connections to it time out',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another host',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
};

/** In own words: those of Node name addresses of the operator's network. */
function describe({ code = '' }: NodeJS.ErrnoException): string {
  if (texts[code]) return texts[code];
  if (/^(EPROTO$|ERR_SSL)/.test(code)) return `does not speak TLS as expected (${code})`;
  if (code.startsWith('HPE_')) return `does not answer with HTTP (${code})`;
  if (/CERT|SIGNATURE|ISSUER|CRL/.test(code)) return `has a certificate that is not trusted (${code})`;
  return `cannot be reached${code && ` (${code})`}`;
}
