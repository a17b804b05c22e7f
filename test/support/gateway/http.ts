// Requests as a test wants them: any header left out, any body, and the answer as it came.

import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { countingHeaders } from './statements.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** As it came. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
  body: any;
}

/** Sends a request and reads the whole answer; `body` is undefined when the answer has none or it is not JSON. */
export async function send(
  agent: Agent,
  method: string,
  url: string,
  headers: OutgoingHttpHeaders,
  payload?: string | Buffer,
): Promise<Answer> {
  const given = Object.fromEntries(
    Object.entries({ ...headers, ...countingHeaders() }).filter(([, value]) => value !== undefined),
  );
  if (payload !== undefined && !('content-length' in given) && !('transfer-encoding' in given))
    given['content-length'] = Buffer.byteLength(payload);
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: given, agent }, async (response) => {
      try {
        const received = await text(response);
        const isJson = /json/.test(response.headers['content-type'] ?? '') && received !== '';
        const body = isJson ? JSON.parse(received) : undefined;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received, body });
      } catch (error) {
        reject(error);
      }
    });
    sent.on('error', reject);
    sent.end(payload);
  });
}

/** Writes to a socket as it is, and gives everything that came back until the other side closed. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return text(socket);
}
