// A visitor's connection of HTTP/1: its requests, one after the other.

import type { Socket } from 'node:net';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { guarded } from '../../protocol/defect.ts';
import { abortSocket } from '../../protocol/relay.ts';
import { MORE, REFUSED } from '../codec/head-reader.ts';
import { RequestCounter } from '../metrics/request-counter.ts';
import { ClientResolver } from '../pipeline/clients.ts';
import { errorReply } from '../pipeline/error-reply.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import { RequestPipeline } from '../pipeline/request-pipeline.ts';
import type { PipelineContext, Upgrade } from '../pipeline/transport.ts';
import { VisitorTimeouts } from '../pipeline/visitor-timeouts.ts';
import type { SharedStreams } from '../upstream/shared-streams.ts';
import { UpstreamPool } from '../upstream/upstream-pool.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { joinUpgraded } from './protocol-upgrade.ts';
import { Http1RequestReader } from './request-reader.ts';
import { Http1ResponseWriter } from './response-writer.ts';

/** What the connections of a listener share. */
export interface ConnectionRegistry {
  /** Once it is so, every response is the last one of its connection. */
  readonly isStopping: boolean;
  readonly streams: SharedStreams;
  /** The connection is closed, or is no HTTP any more. */
  forget(connection: Http1Connection): void;
}

export class Http1Connection {
  readonly socket: Socket;
  readonly #listener: ListenerContext;
  readonly #registry: ConnectionRegistry;
  readonly #slot: ConnectionSlot;
  readonly #counter: RequestCounter;
  readonly #timeouts: VisitorTimeouts;
  /** As long as it has anything to be read, the socket is not read. */
  readonly #reader: Http1RequestReader;
  readonly #writer: Http1ResponseWriter;
  readonly #upstreams: UpstreamPool;
  readonly #context: PipelineContext;
  /** Of the request under way. */
  #pipeline: RequestPipeline | undefined;
  /** What becomes of the visitor's bytes: heads of requests, the request under way, nothing any more. */
  #phase: 'heads' | 'request' | 'lingering' | 'over' = 'heads';
  #isWorking = false;
  #isPaused = false;
  /** Whether the visitor will send nothing more. */
  #hasEnded = false;
  /** Whether nothing of the next request has come. */
  #isIdle = false;

  readonly #listeners = Object.entries<(chunk: Buffer) => void>({
    data: (chunk) => this.#onData(chunk),
    drain: () => this.#onDrain(),
    end: () => {
      this.#hasEnded = true;
      this.#work();
    },
    error: () => {}, // `close` follows.
    close: () => this.#onClose(),
    timeout: () => this.#onTimeout(),
  }).map(([event, listener]) => [event, guarded(() => void this.socket.destroy(), listener)] as const);

  constructor(socket: Socket, listener: ListenerContext, registry: ConnectionRegistry, slot: ConnectionSlot) {
    this.socket = socket;
    this.#listener = listener;
    this.#registry = registry;
    this.#slot = slot;
    const counter = new RequestCounter(listener, slot);
    const reader = new Http1RequestReader(new ClientResolver(socket, listener), counter, () => this.#work());
    const timeouts = new VisitorTimeouts(listener);
    timeouts.forHead(listener.now());
    const upstreams = new UpstreamPool(registry.streams, true);
    const isClosing = () => this.#isClosing;
    const writer = new Http1ResponseWriter({ socket, slot, counter, source: reader, isClosing });
    const onDone = () => this.#onDone();
    const onUpgrade = (upgrade: Upgrade) => this.#onUpgrade(upgrade);
    this.#counter = counter;
    this.#reader = reader;
    this.#timeouts = timeouts;
    this.#upstreams = upstreams;
    this.#writer = writer;
    this.#context = { listener, counter, source: reader, writer, timeouts, upstreams, onDone, onUpgrade };
    listener.counters.connections++;
    for (const [event, handler] of this.#listeners) socket.on(event, handler);
  }

  closeIfIdle(): void {
    if (this.#phase === 'heads' && !this.#reader.isReadable && !this.#reader.head.isPartial) this.#end();
  }

  sweep(now: number): void {
    this.#upstreams.sweep(now);
    if (!this.#timeouts.isDue(now)) return;
    if (this.socket.writableLength === 0) return void this.#onTimeout();
    // A large write goes out little by little, which only the socket's own timer sees.
    this.#timeouts.stop();
    this.socket.setTimeout(this.#listener.settings.stallTimeout);
  }

  /** Whether the response under way is the last one. */
  get #isClosing(): boolean {
    const { head, isReadable } = this.#reader;
    return !head.wantsKeepAlive || this.#registry.isStopping || (this.#hasEnded && !isReadable);
  }

  /** Reads heads and bodies out of the bytes that wait, as far as they can be taken now. */
  #work(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (this.#reader.isReadable && this.#read());
    this.#isWorking = false;
    if (this.#phase !== 'heads' && this.#phase !== 'request') return;
    const { isReadable } = this.#reader;
    if (this.#hasEnded && !isReadable) {
      if (this.#phase === 'heads') return void this.#endOrFail('cutShort');
      this.#pipeline?.onVisitorEnd();
    }
    const isPaused = isReadable || this.#pipeline?.isFull === true;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.socket[isPaused ? 'pause' : 'resume']();
  }

  /** @returns false when the rest has to wait. */
  #read(): boolean {
    if (this.#phase === 'heads') this.#readHead();
    else if (this.#pipeline?.wantsBody) this.#readBody(this.#pipeline);
    else return false;
    return true;
  }

  #readHead(): void {
    const end = this.#reader.readHead();
    if (end === REFUSED) return void this.#fail(this.#reader.head.refusal);
    const now = this.#listener.now();
    if (end === MORE) {
      if (this.#isIdle) this.#timeouts.forHead(now);
      this.#isIdle = false;
      return;
    }
    this.#phase = 'request';
    this.#pipeline = new RequestPipeline(this.#context);
    this.#pipeline.start(now);
  }

  #readBody(pipeline: RequestPipeline): void {
    const piece = this.#reader.readBody();
    if (piece) pipeline.takeBody(piece);
    else pipeline.fail('badBody');
  }

  /** The response to the request under way was written, or there is none. */
  #onDone(): void {
    const { closes, isAborted } = this.#writer;
    this.#leave(!isAborted);
    if (isAborted) this.#phase = 'over';
    else this.#next(closes);
  }

  #next(closes: boolean): void {
    this.#slot.rest();
    // What it was read from may be a lot larger than it is.
    this.#reader.head.release();
    if (closes || this.#registry.isStopping) return void this.#end();
    this.#phase = 'heads';
    this.#isIdle = true;
    this.#timeouts.forRequest(this.#listener.now());
    if (this.socket.timeout) this.socket.setTimeout(0);
    this.#work();
  }

  /** Answers with an error where there is no request. */
  #fail(error: VisitorError): void {
    const reply = errorReply(error);
    this.#counter.countResponse(reply.status);
    this.#writer.reply(reply, false, false);
    this.#next(true);
  }

  /** There is no request, or only a part of one. */
  #endOrFail(error: VisitorError): void {
    if (this.#reader.head.isPartial) this.#fail(error);
    else this.#end();
  }

  #end(): void {
    this.#phase = 'lingering';
    this.#reader.clear();
    this.#upstreams.close(this.#listener.now());
    // What the visitor still sends is read: a socket that is closed with unread bytes takes the response with it.
    if (this.#isPaused) this.socket.resume();
    this.#timeouts.forProgress(this.#listener.now());
    this.socket.end(() => this.#timeouts.forClose(this.#listener.now()));
  }

  /** The request under way is over. */
  #leave(isComplete: boolean): void {
    this.#pipeline?.report(isComplete);
    this.#counter.end();
    this.#pipeline = undefined;
  }

  /** What comes on this connection from now on is another protocol than HTTP. */
  #onUpgrade(upgrade: Upgrade): void {
    const { unread } = this.#reader;
    const onEnd = this.#writer.writeUpgrade(upgrade, unread);
    const counted = this.#counter.countUpgrade(unread, onEnd);
    this.#leave(true);
    this.#phase = 'over';
    this.#registry.forget(this);
    this.#upstreams.close(this.#listener.now());
    this.socket.setTimeout(0);
    this.#slot.release();
    for (const [event, handler] of this.#listeners) this.socket.off(event, handler);
    joinUpgraded(this.socket, upgrade, this.#reader.readRest(), counted);
  }

  #onData(chunk: Buffer): void {
    this.#listener.counters.traffic.fromSocket += chunk.length;
    if (this.#phase === 'lingering' || this.#phase === 'over') return;
    this.#timeouts.progress();
    this.#reader.add(chunk);
    this.#work();
  }

  #onDrain(): void {
    this.#timeouts.progress();
    this.#slot.release();
    this.#pipeline?.onWritable();
    this.#upstreams.release();
  }

  #onTimeout(): void {
    if (this.#phase === 'request') this.#pipeline?.onTimeout();
    else if (this.#phase === 'lingering') abortSocket(this.socket);
    else if (this.#phase === 'heads') this.#endOrFail('requestTimeout');
  }

  #onClose(): void {
    this.#phase = 'over';
    this.#registry.forget(this);
    this.#pipeline?.onVisitorGone();
    this.#leave(false);
    this.#upstreams.close(this.#listener.now());
  }
}
