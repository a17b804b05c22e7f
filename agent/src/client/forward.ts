// A visitor's stream, carried to where its tunnel forwards to.

import type { Socket } from 'node:net';
import {
  type ByteCounters,
  ErrorCode,
  type MuxStream,
  noopStreamEvents,
  readProxyHeader,
  relay,
} from '@gateway/protocol';
import type { TunnelHandle } from '../gateway-client.ts';
import type { OpenStreams } from './open-streams.ts';
import { connectUpstream, type Upstream } from './upstream.ts';

export type { ByteCounters as Traffic };

/** A tunnel, as its visitors see it. */
export interface ForwardTarget {
  readonly upstream: Upstream | undefined;
  readonly counters: Omit<TunnelHandle['counters'], 'bytesIn' | 'bytesOut'>;
  readonly traffic: ByteCounters;
  /** Those that are open. */
  readonly streams: OpenStreams;
  /** Told why the upstream could not be reached; null when it was. */
  onDial(failure: string | null): void;
}

/** Counters that take the bytes from `traffic`. */
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

export interface ForwardDeps {
  find(tunnelId: string): ForwardTarget | undefined;
  /** The gateway sent a visitor for a tunnel that is not ours. */
  onUnknown(tunnelId: string): void;
  /** As in `ClientOptions`. */
  addresses(host: string, port: number): Promise<string[]>;
  /** Milliseconds until the upstream must have accepted. */
  deadline: number;
}

/** Takes a proxy stream. @param rest what came behind its type. */
export function forward(stream: MuxStream, rest: Buffer, deps: ForwardDeps): void {
  let head = rest;
  const read = () => {
    try {
      const found = readProxyHeader(head);
      if (!found) return;
      stream.consumed(head.length - found.rest.length);
      void forwardStream(stream, found.header.tunnelId, found.rest, deps);
    } catch {
      stream.reset(ErrorCode.PROTOCOL); // Whatever it is, it cannot be answered.
    }
  };
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    read();
  };
  stream.events = { ...noopStreamEvents, onData, onEnd: () => stream.reset(ErrorCode.PROTOCOL) };
  read();
}

async function forwardStream(stream: MuxStream, tunnelId: string, first: Buffer, deps: ForwardDeps): Promise<void> {
  const replay = bufferEvents(stream, first);
  // The answer to a bind may have come in the same read, and not have been looked at yet.
  const tunnel = deps.find(tunnelId) ?? (await nextTurn().then(() => deps.find(tunnelId)));
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
    attempt.giveUp();
  };
  try {
    const socket = await attempt.connected;
    tunnel.onDial(null);
    relay(stream, socket, { counters: traffic });
    replay();
  } catch (error) {
    if (stream.isClosed) return;
    counters.dialFailures++;
    stream.reset(ErrorCode.REFUSED); // Of which the gateway makes an answer that a visitor understands.
    tunnel.onDial((error as Error).message);
  }
}

/**
 * Keeps what comes, which the window bounds as nothing of it is called consumed.
 * @returns a function that tells it all to whoever the stream's events are for by then.
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

/** `connected` rejects when the upstream may not, cannot, or is not quick enough to be connected, or is given up. */
function startConnecting(
  upstream: Upstream,
  { addresses, deadline }: ForwardDeps,
): { connected: Promise<Socket>; giveUp(): void } {
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
    const timer = setTimeout(() => settle(`no answer within ${deadline} ms`), deadline);
    const connect = (allowed: string[]) => {
      if (isSettled) return;
      if (allowed.length === 0) return settle('the agent is not allowed to go there');
      const connecting = connectUpstream(upstream, allowed);
      socket = connecting.socket;
      socket.once(connecting.ready, () => settle()).on('error', fail);
    };
    addresses(upstream.host, upstream.port).then(connect).catch(fail);
  });
  return { connected, giveUp: () => settle('the visitor is gone') };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
