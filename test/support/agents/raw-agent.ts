// An agent with nothing of its own: a session over TLS, and whatever calls and frames a test wants to make of it.

import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import {
  answerCall,
  answerHeartbeat,
  callPeer,
  type ErrorCode,
  MuxSession,
  type MuxStream,
  noopStreamEvents,
  readProxyHeader,
  readStreamType,
  StreamType,
} from '../../../src/protocol/index.ts';
import type { TestGateway } from '../gateway/gateway.ts';

/** How long a call may take; milliseconds. */
const CALL_MS = 15_000;

/** An answer as it came. */
// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
export type Reply = Record<string, any>;

export interface RawAgent {
  socket: TLSSocket;
  mux: MuxSession;
  call(type: number, request: object): Promise<Reply>;
  /** Authenticates. @param more members on top of those of a new session. */
  auth(authtoken: string, more?: { ClientId?: string; Extra?: object }): Promise<Reply>;
  /** Binds a name on the HTTP listener, unless told otherwise. */
  bind(name: string, more?: Reply): Promise<Reply>;
  /** What the gateway asked for on streams of its own, but for heartbeats and visitors: the type and the request. */
  asked: { type: number; request: Reply }[];
  /** Resolves when the session is over. */
  closed: Promise<{ code: ErrorCode; message: string }>;
  close(): void;
}

export interface RawAgentOptions {
  /** The name by which it connects; that of the gateway when left out. */
  servername?: string;
  /** Whether it lets heartbeats of the gateway unanswered. */
  mute?: boolean;
  /** Told of each stream that the gateway opens, before its type is read. */
  onStream?(stream: MuxStream): void;
  /** Told of what comes from visitors, piece by piece. */
  onData?(data: Buffer): void;
}

/** Connects; ends with the test at the latest. What it serves is answered with its tunnel's id. */
export async function rawAgent(
  gateway: Pick<TestGateway, 'agent' | 'ca'>,
  { servername, mute = false, onStream, onData }: RawAgentOptions = {},
): Promise<RawAgent> {
  const socket = await dial(gateway, servername);
  const asked: RawAgent['asked'] = [];
  let resolve: (reason: { code: ErrorCode; message: string }) => void;
  const closed = new Promise<{ code: ErrorCode; message: string }>((settle) => {
    resolve = settle;
  });
  const handle = (stream: MuxStream, type: number, rest: Buffer) => {
    if (type === StreamType.HEARTBEAT) return mute ? undefined : answerHeartbeat(stream, rest);
    if (type === StreamType.PROXY) return serve(stream, rest, onData);
    const reply = async (request: Reply) => {
      asked.push({ type, request });
      return {};
    };
    answerCall(stream, rest, reply, (text) => text);
  };
  const mux = new MuxSession(
    socket,
    {
      onStream(stream) {
        readStreamType(stream, (type, rest) => handle(stream, type, rest));
        onStream?.(stream);
      },
      onClose: (code, message) => resolve({ code, message }),
    },
    { role: 'client', peerStreamsMax: 1000 },
  );
  const agent: RawAgent = {
    socket,
    mux,
    call: (type, request) => callPeer(mux, type, request, CALL_MS),
    auth: (authtoken, { ClientId = '', Extra } = {}) =>
      agent.call(StreamType.AUTH, { Version: ['3', '2'], ClientId, Extra: { AuthToken: authtoken, ...Extra } }),
    bind: (name, more) =>
      agent.call(StreamType.BIND, { Id: '', Proto: 'http', Opts: { Hostname: name }, Extra: {}, ...more }),
    asked,
    closed,
    close: () => mux.close(),
  };
  onTestFinished(agent.close);
  return agent;
}

/** A connection to the agent listener, with nothing said on it yet. */
export async function dial({ agent, ca }: Pick<TestGateway, 'agent' | 'ca'>, servername?: string): Promise<TLSSocket> {
  const [host, port] = agent.split(':');
  const socket = connect({ host, port: Number(port), ca, ...(servername !== undefined && { servername }) });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

/** The number of the code in an error of an answer; undefined where it has none. */
export function codeOf({ Error: text }: Reply): number | undefined {
  const [, number] = /^[A-Z]+_[A-Z]+_(\d+)\r?$/m.exec(text ?? '') ?? [];
  return number === undefined ? undefined : Number(number);
}

/** Answers each request on a stream with the id of its tunnel. */
function serve(stream: MuxStream, rest: Buffer, onData: RawAgentOptions['onData']): void {
  let head = rest;
  let id: string | undefined;
  const take = (chunk: Buffer) => {
    stream.consumed(chunk.length);
    head = Buffer.concat([head, chunk]);
    if (id === undefined) {
      const read = readProxyHeader(head);
      if (!read) return;
      id = read.header.tunnelId;
      head = read.rest;
    }
    if (head.length > 0) onData?.(head);
    for (let end = head.indexOf('\r\n\r\n'); end >= 0; end = head.indexOf('\r\n\r\n')) {
      head = head.subarray(end + 4);
      stream.write(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${id.length}\r\n\r\n${id}`));
    }
  };
  stream.events = { ...noopStreamEvents, onData: take, onEnd: () => stream.end() };
  take(EMPTY);
}

const EMPTY = Buffer.alloc(0);
