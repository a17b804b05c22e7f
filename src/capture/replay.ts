// Captured requests, sent once more: through the public listener of this node, as a visitor would, so that all that stands
// before the endpoint acts as it does for visitors.

import { once } from 'node:events';
import { type IncomingMessage, request as startRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { rulesOf } from '../edge/pipeline/endpoint-rules.ts';
import { unmapIpv4 } from '../tunnel/network/peer.ts';
import type { BodyCapture, FieldPairs, RequestCapture } from './captured-request.ts';
import type { Captures } from './captures.ts';
import { type ReplayEdits, replayFields } from './replay-head.ts';

/** How much of the answer is taken; one that is longer is cut there. */
export const RESPONSE_MAX = 1024 * 1024;
/** Bytes of the head of the answer: more than any head that the gateway lets through. */
const HEAD_MAX = 256 * 1024;
/** How long it may take until the answer is complete, in milliseconds. */
export const REPLAY_TIMEOUT_MS = 30_000;
/** Replays of one account that may be under way at once. */
export const REPLAYS_MAX = 8;
/** How long the capture of a replay is waited for that was cut, in milliseconds. */
const CAPTURED_MS = 1000;
/** How a listener on all addresses is reached from here. */
const LOOPBACK: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export interface ReplayResponse {
  status: number;
  durationMs: number;
  fields: FieldPairs;
  body: BodyCapture;
  /** The replay itself; undefined when it was not captured. */
  captured: RequestCapture | undefined;
}

/** Why a request was not sent again, or got no answer. */
export type ReplayFailure =
  | { failed: 'gone' | 'bodyMissing' | 'upgraded' | 'clientCertificate' | 'tooMany' | 'timeout' }
  | { failed: 'fieldMissing'; name: string }
  | { failed: 'noAnswer'; reason: string };

export interface ReplaysOptions {
  /** Where the listeners of this node are. */
  listeners: Record<'http' | 'https', Pick<AddressInfo, 'address' | 'port'>>;
  captures: Captures;
  /** What a connection to one of them begins with that comes from an address, where it has to; nothing when left out. */
  greeting?(listener: 'http' | 'https', ip: string): Buffer | undefined;
  /** How long it may take; the usual when left out. */
  timeoutMs?: number;
}

export class Replays {
  readonly #options: ReplaysOptions;
  /** How many of each account are under way. */
  readonly #underWay = new Map<string, number>();

  constructor(options: ReplaysOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async send(captured: RequestCapture, edits: ReplayEdits): Promise<ReplayResponse | ReplayFailure> {
    if (captured.status === 101) return { failed: 'upgraded' };
    // Its name may be somebody else's by now, whom the secrets in the request are no business of.
    const endpoint = this.#options.captures.endpoint(captured.endpointId);
    if (!endpoint) return { failed: 'gone' };
    const tls = captured.isTls ? rulesOf(endpoint)?.tls : undefined;
    if (tls?.clientAuthorities && tls.clientVerification !== 'request') return { failed: 'clientCertificate' };
    if (!edits.body && !captured.requestBody.isWhole) return { failed: 'bodyMissing' };
    const fields = replayFields(captured, edits);
    if (typeof fields === 'string') return { failed: 'fieldMissing', name: fields };
    const { accountId } = captured;
    const underWay = this.#underWay.get(accountId) ?? 0;
    if (underWay === REPLAYS_MAX) return { failed: 'tooMany' };
    this.#underWay.set(accountId, underWay + 1);
    try {
      return await this.#carry(captured, edits, fields);
    } catch (error) {
      return { failed: 'noAnswer', reason: error instanceof Error ? error.message : String(error) };
    } finally {
      const left = (this.#underWay.get(accountId) ?? 1) - 1;
      if (left > 0) this.#underWay.set(accountId, left);
      else this.#underWay.delete(accountId);
    }
  }

  async #carry(
    captured: RequestCapture,
    edits: ReplayEdits,
    fields: FieldPairs,
  ): Promise<ReplayResponse | ReplayFailure> {
    const { captures, timeoutMs = REPLAY_TIMEOUT_MS } = this.#options;
    const began = performance.now();
    const late = AbortSignal.timeout(timeoutMs);
    const socket = await this.#connected(captured, late).catch((error) => {
      if (!late.aborted) throw error;
    });
    if (!socket) return { failed: 'timeout' };
    let onCaptured: (captured: RequestCapture) => void = () => {};
    const ownCapture = new Promise<RequestCapture>((resolve) => {
      onCaptured = resolve;
    });
    const address = { ip: unmapIpv4(socket.localAddress ?? ''), port: socket.localPort ?? 0 };
    const forget = captures.replayed.add(address, { id: captured.id, onCaptured });
    try {
      const response = await ask(socket, captured, edits, fields, late);
      if (!response) return { failed: 'timeout' };
      const body = await bodyOf(response, late);
      const durationMs = performance.now() - began;
      socket.destroy();
      const own = !captures.has(captured.endpointId)
        ? undefined
        : await Promise.race([ownCapture, pause(CAPTURED_MS, undefined, { ref: false })]);
      return { status: response.statusCode ?? 0, durationMs, fields: pairs(response.rawHeaders), body, captured: own };
    } finally {
      forget();
      socket.destroy();
    }
  }

  async #connected({ scheme, host }: RequestCapture, signal: AbortSignal): Promise<Socket> {
    const { address, port } = this.#options.listeners[scheme];
    const to = { host: LOOPBACK[address] ?? address, port };
    const servername = host.replace(/:\d*$/, '').replace(/\.$/, '');
    const socket = connect(to);
    socket.on('error', () => {}); // Whoever waits for it is told.
    try {
      await once(socket, 'connect', { signal });
      const greeting = this.#options.greeting?.(scheme, unmapIpv4(socket.localAddress ?? ''));
      if (greeting) socket.write(greeting);
      if (scheme === 'http') return socket;
      // Our own certificate, on our own listener: nobody else can be there.
      const tls = connectTls({ socket, servername, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false });
      tls.on('error', () => {}); // Likewise.
      await once(tls, 'secureConnect', { signal });
      return tls;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
}

/** @returns the head of the answer; undefined when it takes too long. */
async function ask(
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
  request.on('error', () => {}); // Likewise.
  request.end(body);
  try {
    const [response] = await once(request, 'response', { signal });
    return response;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** What comes of a body until it ends, is cut, gets too long or takes too long. */
async function bodyOf(response: IncomingMessage, signal: AbortSignal): Promise<BodyCapture> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const stop = () => response.destroy();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      pieces.push(piece.subarray(0, Math.max(0, RESPONSE_MAX - bytes)));
      bytes += piece.length;
      if (bytes > RESPONSE_MAX) break;
    }
  } catch {
    // It was cut: there is what there is.
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return { bytes, kept: Buffer.concat(pieces), isWhole: response.complete && bytes <= RESPONSE_MAX };
}

function pairs(raw: readonly string[]): FieldPairs {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] as string, raw[2 * i + 1] as string]);
}
