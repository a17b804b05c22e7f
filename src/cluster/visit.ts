// A visitor's connection over a node link: one stream, from the node that the visitor came to, to the node that has the tunnel.
//
// The stream begins with its type, the length of a JSON object (32 bits, big-endian) and the object. The node that has the tunnel
// answers with one byte once its agent takes the connection, or resets the stream: then nothing has reached an agent, and the
// visitor may be sent elsewhere. The other node starts with one byte, too, and both go on with the bytes of the visitor and of the
// agent. The start is waited for, so that no byte of an agent arrives before somebody is there to receive it.

import { openTypedStream } from '../protocol/messages/typed-stream.ts';
import type { MuxSession } from '../protocol/mux/mux-session.ts';
import { cancelStream, type MuxStream, noopStreamEvents } from '../protocol/mux/mux-stream.ts';
import { type ByteStream, ErrorCode, type StreamEvents } from '../protocol/mux/stream.ts';
import type { LiveEndpoint, OpenFailure, Proto, Visitor } from '../tunnel/endpoints/endpoint.ts';
import { type SpliceCounters, splice } from './splice.ts';

/** The type of the stream. */
export const VISIT = 1;
const LENGTH_BYTES = 4;
/** The longest JSON object, in bytes: ids and addresses. */
const REQUEST_MAX = 4096;
/** How long the other node may take to answer, in milliseconds: visitors wait up to 10 s for a busy agent. */
const ANSWER_TIMEOUT_MS = 12_000;
const ACCEPTED = Buffer.from([1]);
const START = Buffer.from([1]);

export interface VisitRequest {
  tunnelId: string;
  /** As which kind of endpoint a labelled tunnel serves the visitor. */
  proto: Proto;
  visitor: Visitor;
}

/** Why a visit failed: as for local tunnels, or as the other node has no such tunnel, or as it cannot be reached. */
export type VisitFailure = OpenFailure | 'notHere' | 'unreachable';

/**
 * Opens a visit.
 * @param events the receiver of the stream's events, from the moment at which the promise has resolved.
 * @param onClosed called once when the stream is closed, or could not be opened.
 * @returns the reason when no stream could be opened. Nothing has reached an agent then.
 */
export function openVisit(
  session: MuxSession,
  request: VisitRequest,
  events: StreamEvents,
  onClosed: () => void,
): Promise<ByteStream | VisitFailure> {
  return new Promise((resolve) => {
    const settle = (outcome: ByteStream | VisitFailure) => {
      clearTimeout(deadline);
      resolve(outcome);
    };
    const stream = openTypedStream(session, VISIT, writeRequest(request), {
      ...noopStreamEvents,
      onData(chunk) {
        stream.consumed(chunk.length);
        stream.events = events;
        stream.write(START);
        settle(stream);
      },
      onEnd() {
        stream.reset(ErrorCode.PROTOCOL);
        settle('unreachable');
      },
      onReset: (code) => settle(failureOf(code)),
    });
    stream.onClosed = onClosed;
    const deadline = setTimeout(() => {
      cancelStream(stream);
      settle('unreachable');
    }, ANSWER_TIMEOUT_MS);
  });
}

function failureOf(code: ErrorCode): VisitFailure {
  if (code === ErrorCode.REFUSED) return 'notHere';
  return code === ErrorCode.ENHANCE_CALM ? 'overloaded' : 'unreachable';
}

/**
 * Serves a visit that another node has opened.
 * @param first the bytes behind the type of the stream.
 * @param find finds an own tunnel by its id. It never leads to another node, so that no visit can go in a circle.
 */
export function serveVisit(
  stream: MuxStream,
  first: Buffer,
  find: (tunnelId: string, proto: Proto) => LiveEndpoint | undefined,
  counters: SpliceCounters,
): void {
  let head: Buffer = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    stream.consumed(chunk.length);
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const request = readRequest(head);
    if (request === 'malformed') stream.reset(ErrorCode.PROTOCOL);
    else if (request) void accept(stream, request, find(request.tunnelId, request.proto), counters);
  };
  stream.events = { ...noopStreamEvents, onData, onEnd: () => stream.reset(ErrorCode.PROTOCOL) };
  if (first.length > 0) onData(first);
}

async function accept(
  stream: MuxStream,
  { visitor }: VisitRequest,
  endpoint: LiveEndpoint | undefined,
  counters: SpliceCounters,
): Promise<void> {
  // Nothing may come before our answer.
  stream.events = {
    ...noopStreamEvents,
    onData: () => stream.reset(ErrorCode.PROTOCOL),
    onEnd: () => stream.reset(ErrorCode.PROTOCOL),
  };
  const early = new EarlyEvents();
  const opened = endpoint ? await endpoint.open(visitor, early).catch(() => 'offline' as const) : 'offline';
  if (stream.isClosed) return void (typeof opened === 'string' || cancelStream(opened));
  if (typeof opened === 'string')
    return stream.reset(opened === 'offline' ? ErrorCode.REFUSED : ErrorCode.ENHANCE_CALM);
  stream.write(ACCEPTED);
  stream.events = {
    ...noopStreamEvents,
    onData(chunk) {
      stream.consumed(START.length);
      splice(stream, opened, counters);
      if (chunk.length > START.length) stream.events.onData(chunk.subarray(START.length));
      early.replay(opened.events);
    },
    onEnd() {
      stream.reset(ErrorCode.PROTOCOL);
      cancelStream(opened);
    },
    onReset: () => cancelStream(opened),
  };
  early.onBroken = (code) => stream.reset(code === ErrorCode.SESSION_CLOSED ? ErrorCode.REMOTE_GONE_AWAY : code);
}

/** Keeps what an agent sends before the visitor's node has started. The window of the stream bounds it. */
class EarlyEvents implements StreamEvents {
  /** Called when the stream is reset meanwhile. */
  onBroken: (code: ErrorCode) => void = () => {};
  readonly #chunks: Buffer[] = [];
  #hasEnded = false;

  onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onEnd(): void {
    this.#hasEnded = true;
  }

  onReset(code: ErrorCode): void {
    this.onBroken(code);
  }

  onDrain(): void {}

  /** Gives what was kept to the receiver that has taken over. */
  replay(receiver: StreamEvents): void {
    for (const chunk of this.#chunks.splice(0)) receiver.onData(chunk);
    if (this.#hasEnded) receiver.onEnd();
  }
}

function writeRequest({ tunnelId, proto, visitor }: VisitRequest): Buffer {
  const { ip, port, local, passthrough } = visitor;
  const json = Buffer.from(JSON.stringify({ tunnelId, proto, visitor: { ip, port, local, passthrough } }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json]);
}

function readRequest(head: Buffer): VisitRequest | 'malformed' | undefined {
  if (head.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + head.readUInt32BE(0);
  if (end > LENGTH_BYTES + REQUEST_MAX || head.length > end) return 'malformed';
  if (head.length < end) return undefined;
  try {
    return JSON.parse(head.toString('utf8', LENGTH_BYTES, end)) as VisitRequest;
  } catch {
    return 'malformed';
  }
}
