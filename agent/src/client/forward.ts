// A visitor's stream, carried to where its tunnel forwards to.

import type { Socket } from 'node:net';
import { DEAF, ErrorCode, type MuxStream, readProxyHeader, relay, type Traffic } from '@gateway/protocol';
import type { TunnelHandle } from '../gateway-client.ts';
import type { OpenStreams } from './open-streams.ts';
import { connectUpstream, type Upstream } from './upstream.ts';

export type { Traffic };

/** A tunnel, as its visitors see it. */
export interface Destination {
  readonly upstream: Upstream | undefined;
  readonly counters: Omit<TunnelHandle['counters'], 'bytesIn' | 'bytesOut'>;
  readonly traffic: Traffic;
  /** Those that are open. */
  readonly streams: OpenStreams;
  /** Told why the upstream could not be reached; null when it was. */
  onDial(failure: string | null): void;
}

/** Counters that take the bytes from `traffic`. */
export function countersOver(traffic: Traffic) {
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

export interface ForwardParts {
  find(tunnelId: string): Destination | undefined;
  /** The gateway sent a visitor for a tunnel that is not ours. */
  onUnknown(tunnelId: string): void;
  /** As in `ClientOptions`. */
  addresses(host: string, port: number): Promise<string[]>;
  /** Milliseconds until the upstream must have accepted. */
  deadline: number;
}

/** Takes a proxy stream. @param rest what came behind its type. */
export function forward(stream: MuxStream, rest: Buffer, parts: ForwardParts): void {
  let head = rest;
  const read = () => {
    try {
      const found = readProxyHeader(head);
      if (!found) return;
      stream.consumed(head.length - found.rest.length);
      void carry(stream, found.header.tunnelId, found.rest, parts);
    } catch {
      stream.reset(ErrorCode.PROTOCOL); // Whatever it is, it cannot be answered.
    }
  };
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    read();
  };
  stream.events = { ...DEAF, onData, onEnd: () => stream.reset(ErrorCode.PROTOCOL) };
  read();
}

async function carry(stream: MuxStream, tunnelId: string, first: Buffer, parts: ForwardParts): Promise<void> {
  const replay = hold(stream, first);
  // The answer to a bind may have come in the same read, and not have been looked at yet.
  const tunnel = parts.find(tunnelId) ?? (await nextTurn().then(() => parts.find(tunnelId)));
  if (stream.isGone) return;
  if (!tunnel?.upstream) {
    stream.reset(ErrorCode.REFUSED);
    parts.onUnknown(tunnelId);
    return;
  }
  const { counters, traffic, streams, upstream } = tunnel;
  const attempt = reach(upstream, parts);
  counters.connections++;
  counters.openConnections++;
  streams.add(stream);
  stream.onGone = () => {
    counters.openConnections--;
    streams.delete(stream);
    attempt.giveUp();
  };
  try {
    const socket = await attempt.connected;
    tunnel.onDial(null);
    relay(stream, socket, { traffic });
    replay();
  } catch (error) {
    if (stream.isGone) return;
    counters.dialFailures++;
    stream.reset(ErrorCode.REFUSED); // Of which the gateway makes an answer that a visitor understands.
    tunnel.onDial((error as Error).message);
  }
}

/**
 * Keeps what comes, which the window bounds as nothing of it is called consumed.
 * @returns a function that tells it all to whoever the stream's events are for by then.
 */
function hold(stream: MuxStream, first: Buffer): () => void {
  const chunks = first.length > 0 ? [first] : [];
  let ended = false;
  const onEnd = () => {
    ended = true;
  };
  stream.events = { ...DEAF, onData: (chunk) => void chunks.push(chunk), onEnd };
  return () => {
    for (const chunk of chunks) stream.events.onData(chunk);
    if (ended) stream.events.onEnd();
  };
}

/** `connected` rejects when the upstream may not, cannot, or is not quick enough to be connected, or is given up. */
function reach(
  upstream: Upstream,
  { addresses, deadline }: ForwardParts,
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
