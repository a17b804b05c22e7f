// A visitor's connection: its requests, one after the other, and what is written to it.

import type { Socket } from 'node:net';
import type { ErrorResponseParts } from '../../http/error-response.ts';
import { type VisitorError, visitorErrors } from '../../http/visitor-errors.ts';
import { guarded } from '../../protocol/defect.ts';
import { abortSocket, CoalescingWriter } from '../../protocol/relay.ts';
import { MORE, REFUSED } from '../codec/head-reader.ts';
import { RequestHead } from '../codec/request-head.ts';
import { ResponseHead } from '../codec/response-head.ts';
import { RequestCounter } from '../metrics/request-counter.ts';
import { ClientResolver, type RequestClient } from '../pipeline/clients.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import { type LocalReply, localReplyBytes } from '../pipeline/pipeline-response.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { errorReplyBytes } from './error-reply-bytes.ts';
import { Exchange } from './exchange.ts';
import { InputBuffer } from './input-buffer.ts';
import type { ConnectionRegistry, Http1ConnectionContext } from './owners.ts';
import { ConnectionTimeouts } from './timeouts.ts';
import type { UpstreamStream } from './upstream-stream.ts';

export class Connection implements Http1ConnectionContext {
  readonly socket: Socket;
  readonly front: ListenerContext;
  readonly connections: ConnectionRegistry;
  /** With the request under way, or the one before. */
  client: RequestClient;
  readonly counter: RequestCounter;
  readonly timeouts: ConnectionTimeouts;
  /** As long as anything is in it, the socket is not read. */
  readonly input = new InputBuffer();
  /** The heads of the request under way, and of its answer. */
  readonly request = new RequestHead();
  readonly answer = new ResponseHead();
  exchange: Exchange | undefined;
  /** The stream that is kept from one request to the next. */
  upstream: UpstreamStream | undefined;

  readonly #clients: ClientResolver;
  readonly #writer: CoalescingWriter;
  readonly place: ConnectionSlot;
  /** What becomes of the visitor's bytes: heads of requests, the request under way, nothing any more. */
  #phase: 'heads' | 'exchange' | 'lingering' | 'over' = 'heads';
  #isWorking = false;
  #isPaused = false;
  /** Whether the visitor will send nothing more. */
  #hasEnded = false;
  /** Whether nothing of the next request has come. */
  #isIdle = false;

  readonly #listeners = Object.entries<(chunk: Buffer) => void>({
    data: (chunk) => this.#onData(chunk),
    drain: () => {
      this.timeouts.progress();
      this.place.release();
      this.upstream?.taken();
    },
    end: () => {
      this.#hasEnded = true;
      this.work();
    },
    error: () => {}, // `close` follows.
    close: () => this.#onClose(),
    timeout: () => this.#onTimeout(),
  }).map(([event, listener]) => [event, guarded(() => void this.socket.destroy(), listener)] as const);

  constructor(socket: Socket, front: ListenerContext, connections: ConnectionRegistry, place: ConnectionSlot) {
    this.socket = socket;
    this.front = front;
    this.connections = connections;
    this.#writer = new CoalescingWriter(socket);
    this.timeouts = new ConnectionTimeouts(socket, front);
    this.#clients = new ClientResolver(socket, front);
    this.client = this.#clients.own;
    this.place = place;
    this.counter = new RequestCounter(front, place);
    front.counters.connections++;
    for (const [event, listener] of this.#listeners) socket.on(event, listener);
  }

  /** Whether the answer under way is the last one. */
  get isClosing(): boolean {
    return !this.request.wantsKeepAlive || this.connections.isStopping || (this.#hasEnded && this.input.isEmpty);
  }

  /** Gives the bytes that wait to whoever takes them now. */
  work(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (!this.input.isEmpty && this.#workOn(this.input));
    this.#isWorking = false;
    if (this.#phase !== 'heads' && this.#phase !== 'exchange') return;
    if (this.#hasEnded && this.input.isEmpty) {
      if (this.#phase === 'heads') return void this.#endOrFail('cutShort');
      this.exchange?.onVisitorEnd();
    }
    const isPaused = !this.input.isEmpty || this.exchange?.isFull === true;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.socket[isPaused ? 'pause' : 'resume']();
  }

  write(bytes: Buffer): void {
    this.counter.addSent(bytes.length);
    this.#writer.write(bytes);
  }

  /** The answer to the request under way is complete. @param closes whether it was the last one. */
  finish(closes: boolean, now: number): void {
    this.#leave();
    this.place.rest();
    // What they were read from may be a lot larger than they are.
    this.request.release();
    this.answer.release();
    if (closes || this.connections.isStopping) return void this.#end();
    this.#phase = 'heads';
    this.#isIdle = true;
    this.timeouts.forRequest(now);
    this.work();
  }

  /** Answers with an error. @param canGoOn whether the next request can be told from this one. */
  fail(error: VisitorError, canGoOn: boolean, fields?: ErrorResponseParts['fields']): void {
    const closes = !canGoOn || this.isClosing;
    const bytes = errorReplyBytes(error, this.exchange && this.request, closes, fields);
    this.#answerItself(visitorErrors[error].status, bytes, closes);
  }

  /** Answers with what is given, likewise. */
  answerWith(answer: LocalReply, canGoOn: boolean): void {
    const closes = !canGoOn || this.isClosing;
    this.#answerItself(answer.status, localReplyBytes(answer, this.request.line.isHead, closes), closes);
  }

  drop(): void {
    this.#phase = 'over';
    this.#leave();
    abortSocket(this.socket);
  }

  /** Ends an answer that cannot be completed, so that nobody takes it for a complete one. */
  cut(): void {
    this.front.counters.cut++;
    this.drop();
  }

  /** What comes on this connection from now on is no HTTP. @returns what has come of it; undefined when it is closed. */
  detach(): Buffer | undefined {
    this.#leave();
    this.#phase = 'over';
    this.connections.forget(this);
    this.socket.setTimeout(0);
    this.place.release();
    for (const [event, listener] of this.#listeners) this.socket.off(event, listener);
    return this.socket.destroyed ? undefined : this.input.bytes.subarray(this.input.at);
  }

  /** The stream is over. */
  onLost(upstream: UpstreamStream): void {
    if (this.upstream === upstream) this.upstream = undefined;
  }

  closeIfIdle(): void {
    if (this.#phase === 'heads' && this.input.isEmpty && !this.request.isPartial) this.#end();
  }

  sweep(now: number): void {
    if (this.upstream?.isUseless(now)) this.upstream.release();
    if (this.timeouts.isOver(now)) this.#onTimeout();
  }

  /** @returns false when the rest has to wait. */
  #workOn(input: InputBuffer): boolean {
    const { exchange } = this;
    if (this.#phase === 'heads') this.#readHead(input);
    else if (exchange?.wantsBody && !exchange.isFull) exchange.takeBody(input);
    else return false;
    return true;
  }

  #readHead(input: InputBuffer): void {
    const end = this.request.read(input.bytes, input.at);
    if (end === REFUSED) return void this.fail(this.request.refusal, false);
    const now = this.front.now();
    if (end === MORE) {
      input.clear();
      if (this.#isIdle) this.timeouts.forHead(now);
      this.#isIdle = false;
      return;
    }
    input.take(end);
    this.#phase = 'exchange';
    this.client = this.#clients.of(this.request);
    this.exchange = new Exchange(this);
    this.exchange.start(now);
  }

  #answerItself(status: number, bytes: Buffer, closes: boolean): void {
    this.counter.countResponse(status);
    this.exchange?.answered(status, bytes);
    this.write(bytes);
    this.finish(closes, this.front.now());
  }

  /** There is no request, or only a part of one. */
  #endOrFail(error: VisitorError): void {
    if (this.request.isPartial) this.fail(error, false);
    else this.#end();
  }

  #end(): void {
    this.#phase = 'lingering';
    this.input.clear();
    this.upstream?.release();
    // What the visitor still sends is read: a socket that is closed with unread bytes takes the answer with it.
    if (this.#isPaused) this.socket.resume();
    this.timeouts.forProgress(this.front.now());
    this.socket.end(() => this.timeouts.forClose(this.front.now()));
  }

  /** The request under way is over. */
  #leave(): void {
    this.exchange?.report(false);
    this.counter.end();
    this.exchange = undefined;
  }

  #onData(chunk: Buffer): void {
    this.front.counters.traffic.fromSocket += chunk.length;
    if (this.#phase === 'lingering' || this.#phase === 'over') return;
    this.timeouts.progress();
    this.input.add(chunk);
    this.work();
  }

  #onTimeout(): void {
    if (this.#phase === 'exchange') this.exchange?.onTimeout();
    else if (this.#phase === 'lingering') abortSocket(this.socket);
    else if (this.#phase === 'heads') this.#endOrFail('requestTimeout');
  }

  #onClose(): void {
    this.#phase = 'over';
    this.connections.forget(this);
    this.exchange?.onVisitorGone();
    this.#leave();
    this.upstream?.release();
  }
}
