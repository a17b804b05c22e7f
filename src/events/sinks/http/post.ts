// Sends one HTTP request, without redirects or retries, and reads no more of the response than is needed.

import { type IncomingHttpHeaders, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { SinkError } from '../sink.ts';
import { networkReason } from './network-errors.ts';
import type { AgentPair } from './outbound.ts';

/** The most bytes of a response body that are read. */
export const RESPONSE_BYTES_MAX = 64 * 1024;

export interface PostResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The first 64 KiB of the body. */
  text: string;
}

export interface PostOptions {
  headers: Record<string, string>;
  body: Buffer;
  agents: AgentPair;
}

/**
 * @param signal aborts the request, whatever it waits for.
 * @throws {SinkError} of kind `config` for a redirect and for an address that may not be connected to; of kind `retry` with the code
 * of the network or of TLS for everything else, even certificates, because an expired one may be renewed.
 */
export async function post(url: URL, posting: PostOptions, signal: AbortSignal): Promise<PostResponse> {
  const answer = await exchange(url, posting, signal).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof SinkError) throw error;
    throw new SinkError('retry', networkReason(error));
  });
  if (answer.status >= 300 && answer.status < 400)
    throw new SinkError('config', { code: `HTTP ${answer.status}`, message: 'it redirects, which is not followed' });
  return answer;
}

function exchange(url: URL, { headers, body, agents }: PostOptions, signal: AbortSignal): Promise<PostResponse> {
  const [send, agent] = url.protocol === 'https:' ? [overHttps, agents.https] : [overHttp, agents.http];
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: 'POST',
      agent,
      headers: { 'user-agent': 'tunnel-gateway', ...headers, 'content-length': body.length },
      signal,
    });
    request.on('error', reject).on('response', (response) => read(response, resolve, reject));
    // Node closes without an error when the response is an upgrade that was not requested.
    request.on('close', () =>
      reject(Object.assign(new Error('it was closed without an answer'), { code: 'ECONNRESET' })),
    );
    request.end(body);
  });
}

function read(
  response: IncomingMessage,
  resolve: (answer: PostResponse) => void,
  reject: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const finish = () => {
    const text = Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX).toString();
    resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
  };
  response.on('error', reject).on('end', finish);
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= RESPONSE_BYTES_MAX) return;
    finish();
    response.destroy();
  });
}
