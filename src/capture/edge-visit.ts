// A visit of the gateway to one of its own names, to see whether it is served: as of a visitor, so that all modules and
// policies apply.

import { once } from 'node:events';
import { type IncomingMessage, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connectToListener, type OwnListeners } from './own-listeners.ts';

const VISIT_TIMEOUT_MS = 15_000;
/** A refusal of a handshake comes within that time; milliseconds. */
const REFUSAL_MS = 300;
/** The most bytes that are read of a page of our own that says why nobody serves the name. */
const REASON_MAX = 2000;

/** What to visit. */
export interface EdgeVisit {
  /** A name that the gateway serves. */
  host: string;
  /** The path to GET; null: only the TLS handshake is made, with whoever ends TLS. */
  path: string | null;
}

/** What came of a visit. */
export interface EdgeVisitResult {
  /** The status of the response; null where there was none, or none was asked for. */
  status: number | null;
  /** From the connection to the head of the response, or to the end of the handshake; milliseconds. */
  durationMs: number;
  /** The gateway's own code, where it answered itself: `ERR_GATEWAY_…`. */
  errorCode: string | null;
  /** Why the name is not served; null when it is. */
  reason: string | null;
}

/** Makes a visit. It never rejects, and takes 15 s at most. */
export async function visitEdge(listeners: OwnListeners, { host, path }: EdgeVisit): Promise<EdgeVisitResult> {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(VISIT_TIMEOUT_MS);
  const ended = (result: Partial<EdgeVisitResult>): EdgeVisitResult => ({
    ...{ status: null, errorCode: null, reason: null },
    durationMs: performance.now() - startedAt,
    ...result,
  });
  let socket: Socket | undefined;
  try {
    socket = await connectToListener(listeners, { scheme: 'https', host }, signal, path === null ? [] : undefined);
    if (path === null) {
      const result = ended({});
      return (await staysOpen(socket))
        ? result
        : { ...result, reason: 'the connection was closed after the handshake' };
    }
    const response = await get(socket, host, path, signal);
    const result = ended({ status: response.statusCode ?? 0 });
    const code = response.headers['gateway-error-code'];
    if (typeof code !== 'string') return result;
    return { ...result, errorCode: code, reason: await readReason(response) };
  } catch (error) {
    const { message } = error as Error;
    return ended({ reason: signal.aborted ? `no answer within ${VISIT_TIMEOUT_MS / 1000} s` : message });
  } finally {
    socket?.destroy();
  }
}

/** Whether the other side accepts the handshake: in TLS 1.3 a refusal of the client comes after it. */
async function staysOpen(socket: Socket): Promise<boolean> {
  const closed = once(socket, 'close').then(() => false);
  socket.resume(); // Of a socket that nobody reads, the end is not seen.
  return Promise.race([closed, pause(REFUSAL_MS, true, { ref: false })]);
}

async function get(socket: Socket, host: string, path: string, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = {
    Host: host,
    'User-Agent': 'tunnel-gateway-test',
    Accept: 'text/plain, */*;q=0.1',
    Connection: 'close',
  };
  const request = startRequest({ createConnection: () => socket, path, headers });
  request.on('error', () => {}); // Whoever waits for the response gets it.
  request.end();
  const [response] = await once(request, 'response', { signal });
  return response;
}

/** The text with which the gateway says why it did not pass a request on. */
async function readReason(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > REASON_MAX) break;
  }
  return text.trim().slice(0, REASON_MAX);
}
