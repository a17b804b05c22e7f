// Stream types, which are the first four bytes of a stream. And calls: one stream each, with one JSON object in each
// direction.

import type { ByteBudget } from '../byte-budget.ts';
import type { MuxSession } from '../mux/mux-session.ts';
import { type MuxStream, noopStreamEvents } from '../mux/mux-stream.ts';
import { ErrorCode } from '../mux/stream.ts';
import { JsonReader, MessageError } from './json-reader.ts';

export const StreamType = {
  AUTH: 0,
  BIND: 1,
  UNBIND: 2,
  PROXY: 3,
  RESTART: 4,
  STOP: 5,
  UPDATE: 6,
  START_TUNNEL_WITH_LABEL: 7,
  SERVER_INFO: 8,
  STOP_TUNNEL: 9,
  PATCH_TUNNEL: 10,
  /**
   * Only between our own gateway and agent, so its number is far from the others: the gateway asks the agent to move to another of its
   * processes. The agent answers when the tunnels are bound there, or why they are not.
   */
  MOVE: 0x4757_0001,
  HEARTBEAT: 0xffff_ffff,
} as const;

const TYPE_BYTES = 4;
/** The time in which a request must arrive, from the type of its stream to its last byte; milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Reads the type of a stream that the peer opened. @param onType called with the type and the data received behind it. */
export function readStreamType(stream: MuxStream, onType: (type: number, rest: Buffer) => void): void {
  let head: Buffer = EMPTY;
  stream.events = {
    ...noopStreamEvents,
    onData(chunk) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      if (head.length < TYPE_BYTES) return;
      stream.events = noopStreamEvents;
      stream.consumed(TYPE_BYTES);
      onType(head.readUInt32BE(0), head.subarray(TYPE_BYTES));
    },
    onEnd: () => stream.reset(ErrorCode.PROTOCOL),
  };
}

/** Opens a stream of a type. @param first the first bytes behind the type. @param isUrgent as in `MuxStream`. */
export function openTypedStream(
  session: MuxSession,
  type: number,
  first: Buffer,
  events = noopStreamEvents,
  isUrgent = false,
): MuxStream {
  const stream = session.open(events);
  stream.isUrgent = isUrgent;
  const bytes = Buffer.allocUnsafe(TYPE_BYTES + first.length);
  bytes.writeUInt32BE(type);
  first.copy(bytes, TYPE_BYTES);
  stream.headBytes = bytes.length;
  stream.write(bytes);
  return stream;
}

/**
 * Calls the peer. Our side of the stream is not ended before the response: existing SDKs spin when it is.
 * @throws {MessageError} when the response is malformed, or does not arrive within `timeout` milliseconds.
 */
export function callPeer(session: MuxSession, type: number, request: object, timeout: number): Promise<object> {
  return new Promise((resolve, reject) => {
    const reader = new JsonReader();
    const settle = (outcome: () => void) => {
      clearTimeout(deadline);
      stream.events = { ...noopStreamEvents, onEnd: () => stream.end() };
      outcome();
    };
    const fail = (message: string) => settle(() => reject(new MessageError(message)));
    const events = {
      ...noopStreamEvents,
      onData(chunk: Buffer) {
        stream.consumed(chunk.length);
        try {
          const response = reader.push(chunk);
          if (response === undefined) return;
          stream.end();
          settle(() => resolve(response));
        } catch (error) {
          stream.reset(ErrorCode.PROTOCOL);
          fail((error as Error).message);
        }
      },
      onEnd: () => {
        stream.end();
        fail('the call was not answered');
      },
      onReset: (code: ErrorCode) => fail(`the call was reset (code ${code})`),
    };
    const stream = openTypedStream(session, type, json(request), events, true);
    const deadline = setTimeout(() => {
      stream.reset();
      fail(`the call was not answered within ${timeout} ms`);
    }, timeout);
  });
}

/**
 * Answers a call of the peer with a JSON object and the end of the stream. A call whose request is incomplete in time
 * is reset.
 * @param rest the data behind the stream's type.
 * @param handle returns the response; a rejection is a defect.
 * @param explain makes the error text of the response to a malformed request.
 * @param budget the budget that the request counts against, from its first byte until its stream is closed and its
 * handler done.
 */
export function answerCall(
  stream: MuxStream,
  rest: Buffer,
  handle: (request: object) => Promise<object>,
  explain: (text: string) => string,
  budget?: ByteBudget,
): void {
  stream.isUrgent = true;
  const reader = new JsonReader(budget);
  let isHandling = false;
  const release = () => {
    if (stream.isClosed && !isHandling) reader.release();
  };
  const reply = (body: object) => {
    stream.write(json(body));
    stream.end();
  };
  const deadline = setTimeout(() => stream.reset(ErrorCode.CANCELLED), REQUEST_TIMEOUT_MS).unref();
  stream.onClosed = () => {
    clearTimeout(deadline);
    release();
  };
  const receive = (chunk: Buffer) => {
    stream.consumed(chunk.length);
    let request: object | undefined;
    try {
      request = reader.push(chunk);
      if (request === undefined) return;
    } catch (error) {
      reader.release();
      reply({ Error: explain((error as Error).message) });
    }
    clearTimeout(deadline);
    stream.events = { ...noopStreamEvents, onData: (more) => stream.consumed(more.length) };
    if (request === undefined) return;
    isHandling = true;
    void handle(request)
      .then(reply)
      .catch((error) => stream.failUnexpectedly(error))
      .finally(() => {
        isHandling = false;
        release();
      });
  };
  stream.events = { ...noopStreamEvents, onData: receive, onEnd: () => stream.reset(ErrorCode.PROTOCOL) };
  if (rest.length > 0) receive(rest);
}

function json(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

const EMPTY = Buffer.alloc(0);
