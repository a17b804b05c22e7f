// A visitor: a request to a public listener, by the name of an endpoint.

import { type Agent as HttpAgent, type IncomingHttpHeaders, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';

export interface Visit {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface VisitOptions {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** What to trust, for https. */
  ca?: string;
  agent?: HttpAgent;
  /** How the bytes of the answer become its `body`: `latin1` keeps them all. */
  encoding?: BufferEncoding;
}

/**
 * Visits a URL at a listener: names of a test are in no DNS.
 * @param listener `host:port`.
 */
export function visit(
  url: string,
  listener: string,
  { method = 'GET', path, headers, body, ca, agent, encoding }: VisitOptions = {},
): Promise<Visit> {
  const { protocol, host, hostname, pathname, search } = new URL(url);
  const [address, port] = listener.split(':');
  const options = {
    host: address,
    port,
    method,
    path: path ?? `${pathname}${search}`,
    headers: { host, ...headers },
    agent,
  };
  return new Promise((resolve, reject) => {
    const request = protocol === 'https:' ? overHttps({ ...options, servername: hostname, ca }) : overHttp(options);
    request.on('error', reject).on('response', async (response) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(encoding),
        });
      } catch (error) {
        reject(error as Error);
      }
    });
    request.end(body);
  });
}
