// Replays captured requests. They are sent to the public listener of this node, as a visitor would, so that modules and
// policies of the endpoint apply to them.

import { once } from 'node:events';
import { type IncomingMessage, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { endpointRulesOf } from '../edge/pipeline/rules/endpoint-rules.ts';
import { termsRequireCertificate } from '../http/tls-terms.ts';
import type { LiveEndpoint } from '../tunnel/endpoints/endpoint.ts';
import { unmapIpv4 } from '../tunnel/network/peer.ts';
import type { BodyCapture, FieldPairs, RequestCapture } from './captured-request.ts';
import type { Captures } from './captures.ts';
import { connectToListener, type OwnListeners } from './own-listeners.ts';
import { type ReplayEdits, replayFields } from './replay-head.ts';

/** The most bytes that are read of a response's body; a longer one is truncated. */
export const RESPONSE_MAX = 1024 * 1024;
/** The most bytes of a response's head: more than the gateway itself allows. */
const HEAD_MAX = 256 * 1024;
/** The timeout for the whole response; milliseconds. */
export const REPLAY_TIMEOUT_MS = 30_000;
/** The most concurrent replays of one account. */
export const REPLAYS_MAX = 8;
/** The time in which the replay itself must be captured after its response; milliseconds. */
const CAPTURE_TIMEOUT_MS = 1000;

/** The response to a replay. */
export interface ReplayResponse {
  status: number;
  durationMs: number;
  fields: FieldPairs;
  body: BodyCapture;
  /** The capture of the replay itself; undefined when it was not captured. */
  captured: RequestCapture | undefined;
}

/** The reason why a request was not replayed, or got no response. */
export type ReplayFailure =
  | { failed: 'gone' | 'bodyMissing' | 'upgraded' | 'clientCertificate' | 'tooMany' | 'timeout' }
  | { failed: 'fieldMissing'; name: string }
  | { failed: 'noAnswer'; reason: string };

/** The dependencies of replays. */
export interface ReplaysOptions extends OwnListeners {
  captures: Captures;
  /** Finds the endpoint to which the name of a captured request leads now, if it is of its account. */
  findServing?(captured: RequestCapture): Promise<LiveEndpoint | undefined>;
  /** The timeout of a replay, in milliseconds; `REPLAY_TIMEOUT_MS` when left out. */
  timeoutMs?: number;
}

/** Sends replays. */
export class Replays {
  readonly #options: ReplaysOptions;
  /** The number of replays in progress, by account. */
  readonly #inProgress = new Map<string, number>();

  constructor(options: ReplaysOptions) {
    this.#options = options;
  }

  /** Sends a captured request again. It never rejects. */
  async send(captured: RequestCapture, edits: ReplayEdits): Promise<ReplayResponse | ReplayFailure> {
    if (captured.status === 101) return { failed: 'upgraded' };
    // Without the endpoint, the host may belong to another account by now, which must not get the secrets in the request.
    const { captures, findServing } = this.#options;
    const endpoint = captures.endpoint(captured.endpointId) ?? (await findServing?.(captured));
    if (!endpoint) return { failed: 'gone' };
    const tls = captured.isTls ? endpointRulesOf(endpoint)?.tls : undefined;
    if (termsRequireCertificate(tls)) return { failed: 'clientCertificate' };
    if (!edits.body && !captured.requestBody.isWhole) return { failed: 'bodyMissing' };
    const fields = replayFields(captured, edits);
    if (typeof fields === 'string') return { failed: 'fieldMissing', name: fields };
    const { accountId } = captured;
    const inProgress = this.#inProgress.get(accountId) ?? 0;
    if (inProgress === REPLAYS_MAX) return { failed: 'tooMany' };
    this.#inProgress.set(accountId, inProgress + 1);
    try {
      return await this.#sendAndCapture(captured, endpoint, { edits, fields });
    } catch (error) {
      return { failed: 'noAnswer', reason: error instanceof Error ? error.message : String(error) };
    } finally {
      const left = (this.#inProgress.get(accountId) ?? 1) - 1;
      if (left > 0) this.#inProgress.set(accountId, left);
      else this.#inProgress.delete(accountId);
    }
  }

  async #sendAndCapture(
    captured: RequestCapture,
    endpoint: LiveEndpoint,
    { edits, fields }: { edits: ReplayEdits; fields: FieldPairs },
  ): Promise<ReplayResponse | ReplayFailure> {
    const { captures, timeoutMs = REPLAY_TIMEOUT_MS } = this.#options;
    const startedAt = performance.now();
    const timeout = AbortSignal.timeout(timeoutMs);
    const socket = await connectToListener(this.#options, captured, timeout).catch((error) => {
      if (!timeout.aborted) throw error;
    });
    if (!socket) return { failed: 'timeout' };
    let onCaptured: (captured: RequestCapture) => void = () => {};
    const ownCapture = new Promise<RequestCapture>((resolve) => {
      onCaptured = resolve;
    });
    const address = { ip: unmapIpv4(socket.localAddress ?? ''), port: socket.localPort ?? 0 };
    const removeReplay = captures.activeReplays.add(address, { id: captured.id, onCaptured });
    try {
      const response = await sendRequest(socket, captured, edits, fields, timeout);
      if (!response) return { failed: 'timeout' };
      const body = await readBody(response, timeout);
      const durationMs = performance.now() - startedAt;
      socket.destroy();
      const ownCaptured = !captures.has(endpoint)
        ? undefined
        : await Promise.race([ownCapture, pause(CAPTURE_TIMEOUT_MS, undefined, { ref: false })]);
      return {
        status: response.statusCode ?? 0,
        durationMs,
        fields: toFieldPairs(response.rawHeaders),
        body,
        captured: ownCaptured,
      };
    } finally {
      removeReplay();
      socket.destroy();
    }
  }
}

/** Sends the request. @returns the head of the response; undefined after a timeout. */
async function sendRequest(
  socket: Socket,
  captured: RequestCapture,
  edits: ReplayEdits,
  fields: FieldPairs,
  signal: AbortSignal,
): Promise<IncomingMessage | undefined> {
  const { method = captured.method, path = captured.target, body = captured.requestBody.kept } = edits;
  const hasBody = body.length > 0 || !/^(?:GET|HEAD|OPTIONS|TRACE|DELETE)$/.test(method);
  const length = hasBody ? ['Content-Length', String(body.length)] : [];
  const [hostName] = captured.requestFields.find(([name]) => name.toLowerCase() === 'host') ?? ['Host'];
  const headers = [hostName, captured.host, ...fields.flat(), ...length, 'Connection', 'close'];
  const options = { method, path, headers, setHost: false, maxHeaderSize: HEAD_MAX };
  const request = startRequest({ createConnection: () => socket, ...options });
  request.on('error', () => {}); // As above.
  request.end(body);
  try {
    const [response] = await once(request, 'response', { signal });
    return response;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Reads a body until its end, an error, the size limit or the timeout. */
async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<BodyCapture> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stop = () => response.destroy();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, Math.max(0, RESPONSE_MAX - bytes)));
      bytes += chunk.length;
      if (bytes > RESPONSE_MAX) break;
    }
  } catch {
    // The response was cut; the bytes that were received are shown.
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return { bytes, kept: Buffer.concat(chunks), isWhole: response.complete && bytes <= RESPONSE_MAX };
}

function toFieldPairs(raw: readonly string[]): FieldPairs {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] as string, raw[2 * i + 1] as string]);
}
