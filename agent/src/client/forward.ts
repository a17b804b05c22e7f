// Forwards visitors' streams to the upstream of their tunnel.

import { connect as connectSocket, type Socket } from 'node:net';
import {
  type ByteCounters,
  ErrorCode,
  type MuxStream,
  noopStreamEvents,
  type RelayWatch,
  readProxyHeader,
  relay,
} from '@gateway/protocol';
import type { TunnelHandle } from '../gateway-client.ts';
import type { OpenStreams } from './open-streams.ts';
import { connectUpstream, type Upstream } from './upstream.ts';

/** The part of a tunnel that forwarding uses. */
export interface ForwardTarget {
  readonly upstream: Upstream | undefined;
  readonly counters: Omit<TunnelHandle['counters'], 'bytesIn' | 'bytesOut'>;
  readonly traffic: ByteCounters;
  /** The open streams of visitors. */
  readonly streams: OpenStreams;
  /** Looks at what a new connection to the upstream carries; undefined: nobody wants to. */
  watch(): RelayWatch | undefined;
  /** Called after each attempt to connect to the upstream, with the reason of a failure or null. */
  onDial(failure: string | null): void;
}

/** New counters, which read the bytes from `traffic`. */
export function createCounters(traffic: ByteCounters) {
  return {
    connections: 0,
    openConnections: 0,
    dialFailures: 0,
    get bytesIn() {
      return traffic.toSocket;
    },
    get bytesOut() {
      return traffic.fromSocket;
    },
  };
}

/** The dependencies of forwarding. */
export interface ForwardDeps {
  /** Finds a bound tunnel. */
  find(tunnelId: string): ForwardTarget | undefined;
  /** Called when the gateway sends a visitor for an unknown tunnel. */
  onUnknown(tunnelId: string): void;
  /** As in `ClientOptions`. */
  addresses(host: string, port: number): Promise<string[]>;
  /** The timeout for the connection to the upstream; milliseconds. */
  connectTimeout: number;
}

/** Handles a proxy stream. @param rest the data behind its type. */
export function forward(stream: MuxStream, rest: Buffer, deps: ForwardDeps): void {
  let head = rest;
  const readHeader = () => {
    try {
      const parsed = readProxyHeader(head);
      if (!parsed) return;
      stream.consumed(head.length - parsed.rest.length);
      void forwardStream(stream, parsed.header.tunnelId, parsed.rest, deps);
    } catch {
      stream.reset(ErrorCode.PROTOCOL); // Without a valid header there is no tunnel to answer for.
    }
  };
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    readHeader();
  };
  stream.events = { ...noopStreamEvents, onData, onEnd: () => stream.reset(ErrorCode.PROTOCOL) };
  readHeader();
}

async function forwardStream(stream: MuxStream, tunnelId: string, first: Buffer, deps: ForwardDeps): Promise<void> {
  const replayEvents = bufferEvents(stream, first);
  // The response to the bind may have arrived in the same read, with its promise still pending.
  const tunnel = deps.find(tunnelId) ?? (await nextIteration().then(() => deps.find(tunnelId)));
  if (stream.isClosed) return;
  if (!tunnel?.upstream) {
    stream.reset(ErrorCode.REFUSED);
    deps.onUnknown(tunnelId);
    return;
  }
  const { counters, traffic, streams, upstream } = tunnel;
  const attempt = startConnecting(upstream, deps);
  counters.connections++;
  counters.openConnections++;
  streams.add(stream);
  stream.onClosed = () => {
    counters.openConnections--;
    streams.delete(stream);
    attempt.abort();
  };
  try {
    const socket = await attempt.connected;
    tunnel.onDial(null);
    relay(stream, socket, { counters: traffic, watch: tunnel.watch() });
    replayEvents();
  } catch (error) {
    if (stream.isClosed) return;
    counters.dialFailures++;
    stream.reset(ErrorCode.REFUSED); // The gateway turns this into an error response for the visitor.
    tunnel.onDial((error as Error).message);
  }
}

/**
 * Buffers the events of a stream. The stream's window bounds the buffer, as nothing is reported as consumed.
 * @returns a function that replays the events to the receiver that the stream has by then.
 */
function bufferEvents(stream: MuxStream, first: Buffer): () => void {
  const chunks = first.length > 0 ? [first] : [];
  let ended = false;
  const onEnd = () => {
    ended = true;
  };
  stream.events = { ...noopStreamEvents, onData: (chunk) => void chunks.push(chunk), onEnd };
  return () => {
    for (const chunk of chunks) stream.events.onData(chunk);
    if (ended) stream.events.onEnd();
  };
}

/** Starts to connect. `connected` rejects when the upstream is not allowed, fails, times out, or the attempt is aborted. */
function startConnecting(
  upstream: Upstream,
  { addresses, connectTimeout }: ForwardDeps,
): { connected: Promise<Socket>; abort(): void } {
  let settle: (reason?: string) => void = () => {};
  const connected = new Promise<Socket>((resolve, reject) => {
    let socket: Socket | undefined;
    let isSettled = false;
    settle = (reason) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      if (socket && reason === undefined) return resolve(socket);
      socket?.destroy();
      reject(new Error(reason));
    };
    const fail = (error: Error & { code?: string }) => settle(error.message || error.code || 'it failed');
    const timer = setTimeout(() => settle(`no answer within ${connectTimeout} ms`), connectTimeout);
    const use = (connecting: ReturnType<typeof connectUpstream>) => {
      socket = connecting.socket;
      socket.once(connecting.ready, () => settle()).on('error', fail);
    };
    if ('directory' in upstream) {
      const connect = (path: string) => {
        if (!isSettled) use({ socket: connectSocket({ path, allowHalfOpen: true }), ready: 'connect' });
      };
      // Most agents serve no files.
      import('../files/file-sockets.ts')
        .then(({ socketOf }) => socketOf(upstream.directory))
        .then(connect)
        .catch(fail);
      return;
    }
    const connect = (allowed: string[]) => {
      if (isSettled) return;
      if (allowed.length === 0) return settle('the agent is not allowed to go there');
      use(connectUpstream(upstream, allowed));
    };
    addresses(upstream.host, upstream.port).then(connect).catch(fail);
  });
  return { connected, abort: () => settle('the visitor has closed the connection') };
}

function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
