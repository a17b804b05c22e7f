// One connection between two nodes: calls and visits of both, over the multiplexer that agents speak, too.

import type { Socket } from 'node:net';
import { answerHeartbeat, startHeartbeat } from '../protocol/messages/heartbeat.ts';
import { answerCall, callPeer, readStreamType, StreamType } from '../protocol/messages/typed-stream.ts';
import { MuxSession } from '../protocol/mux/mux-session.ts';
import type { MuxStream } from '../protocol/mux/mux-stream.ts';
import { type ByteStream, ErrorCode, type StreamEvents } from '../protocol/mux/stream.ts';
import { STREAM_WINDOW_MAX } from '../protocol/mux/window.ts';
import type { LiveEndpoint, Proto } from '../tunnel/endpoints/endpoint.ts';
import type { IncomingVisits } from './incoming-visits.ts';
import type { LinkCounters } from './link-counters.ts';
import { openVisit, serveVisit, VISIT, type VisitFailure, type VisitRequest } from './visit.ts';

/** The type of a call's stream. */
const CALL = 2;
/** The most streams that the other node may have open. */
const STREAMS_MAX = 100_000;
/** Each node has a stream for its heartbeats. */
const HEARTBEAT_STREAMS = 2;
/** A link that has carried more bytes since the heartbeat before has bulk transfers, behind which small responses would wait. */
const BULK_BYTES = 1024 * 1024;

export interface LinkTiming {
  /** The time between two heartbeats, and how long the answer to one may take; milliseconds. */
  heartbeatMs: number;
  toleranceMs: number;
}

/** Answers a call of another node. What it throws goes to the caller as text. */
export type CallHandler = (body: object, from: NodeLink) => Promise<object>;

/** What a link asks of its node. */
export interface LinkDeps extends LinkTiming {
  /** The handlers of calls by method. */
  methods: ReadonlyMap<string, CallHandler>;
  /** Finds an own tunnel by its id. */
  findTunnel(tunnelId: string, proto: Proto): LiveEndpoint | undefined;
  counters: LinkCounters;
  incoming: IncomingVisits;
  /** Called when a node could not be reached. */
  onFailure(nodeId: string, error: unknown): void;
}

/** A call failed: the other node did not answer in time, or with an error. */
export class CallError extends Error {}

export class NodeLink {
  /** The id of the other node. */
  readonly nodeId: string;
  /** When a stream was last opened or closed; milliseconds of a monotonic clock. */
  usedAt = performance.now();
  readonly #mux: MuxSession;
  readonly #deps: LinkDeps;
  readonly #onClosed = new Set<() => void>();
  /** The bytes of both directions between the last two heartbeats, and up to the last. */
  #recentBytes = 0;
  #bytesBefore = 0;

  /**
   * @param socket a connection whose peer is known to be this node: by its certificate, or over a unix socket of this machine.
   * @param role the client is the node that has connected.
   */
  constructor(socket: Socket, nodeId: string, role: 'client' | 'server', deps: LinkDeps) {
    this.nodeId = nodeId;
    this.#deps = deps;
    const onStream = (stream: MuxStream) => readStreamType(stream, (type, rest) => this.#onStream(stream, type, rest));
    const onClose = () => {
      for (const listener of this.#onClosed) listener();
    };
    this.#mux = new MuxSession(
      socket,
      { onStream, onClose },
      { role, peerStreamsMax: STREAMS_MAX, limitsOpens: false },
    );
    this.#mux.windowBudget.max = STREAM_WINDOW_MAX;
    startHeartbeat(this.#mux, {
      interval: deps.heartbeatMs,
      tolerance: deps.toleranceMs,
      onBeat: () => {
        const bytes = this.#mux.bytesIn + this.#mux.bytesOut;
        this.#recentBytes = bytes - this.#bytesBefore;
        this.#bytesBefore = bytes;
      },
    });
  }

  get isClosed(): boolean {
    return this.#mux.isClosed;
  }

  /** The bytes that it has carried between the last two heartbeats. */
  get recentBytes(): number {
    return this.#recentBytes;
  }

  /** Whether it carries bulk transfers. */
  get isBulk(): boolean {
    return this.#recentBytes > BULK_BYTES;
  }

  /** Whether it has carried nothing for so many milliseconds, in either direction. */
  isIdleFor(ms: number): boolean {
    return this.#mux.size <= HEARTBEAT_STREAMS && performance.now() - this.usedAt >= ms;
  }

  /** Calls the listener once the link is closed. */
  onClosed(listener: () => void): void {
    this.#onClosed.add(listener);
  }

  /**
   * Calls a method of the other node.
   * @throws {CallError} when it answers with an error, or not within so many milliseconds.
   */
  async call(method: string, body: object, timeoutMs: number): Promise<object> {
    if (this.isClosed) throw new CallError('the link to the node is closed');
    this.usedAt = performance.now();
    const answer = (await callPeer(this.#mux, CALL, { method, body }, timeoutMs).catch((error: Error) => {
      throw new CallError(error.message);
    })) as { result?: object; Error?: string };
    if (!answer.result) throw new CallError(answer.Error || 'the node answered without a result');
    return answer.result;
  }

  /** Opens a stream to a tunnel of the other node for a visitor. @returns why that failed; nothing has reached an agent then. */
  async visit(request: VisitRequest, events: StreamEvents): Promise<ByteStream | VisitFailure> {
    if (this.isClosed) return 'unreachable';
    this.#deps.counters.visitsOut++;
    return openVisit(this.#mux, request, events, () => {
      this.usedAt = performance.now();
    });
  }

  /** Closes the link. Streams that are open are reset. */
  close(): void {
    this.#mux.close(ErrorCode.NONE, 'the link is not needed');
  }

  #onStream(stream: MuxStream, type: number, rest: Buffer): void {
    this.usedAt = performance.now();
    if (type === StreamType.HEARTBEAT) answerHeartbeat(stream, rest);
    else if (type === VISIT) {
      this.#deps.counters.visitsIn++;
      this.#deps.incoming.add(stream);
      serveVisit(stream, rest, this.#deps.findTunnel, this.#deps.counters);
    } else if (type === CALL)
      answerCall(
        stream,
        rest,
        (call) => this.#answer(call),
        (text) => text,
      );
    else stream.reset(ErrorCode.REFUSED); // A newer node may know more.
  }

  async #answer(call: object): Promise<object> {
    const { method, body } = call as { method?: string; body?: object };
    const handle = this.#deps.methods.get(method ?? '');
    if (!handle) return { Error: `unknown method ${method}` };
    try {
      return { result: await handle(body ?? {}, this) };
    } catch (error) {
      return { Error: (error as Error).message || 'internal error' };
    }
  }
}
