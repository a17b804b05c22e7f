// One request of HTTP/2: the stream that it comes on, and that its response leaves on.

import { constants, type ServerHttp2Stream } from 'node:http2';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { RequestCounter } from '../metrics/request-counter.ts';
import type { ClientResolver } from '../pipeline/clients.ts';
import { errorReply, readerOf } from '../pipeline/error-reply.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import { RequestPipeline } from '../pipeline/request-pipeline.ts';
import { VisitorTimeouts } from '../pipeline/visitor-timeouts.ts';
import type { UpstreamPool } from '../upstream/upstream-pool.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { readRequest } from './request.ts';
import { type IntakeEvents, RequestIntake } from './request-intake.ts';
import { Http2RequestSource } from './request-source.ts';
import { Http2ResponseWriter } from './response-writer.ts';
import type { UploadWindows } from './upload-windows.ts';

/** The visitor's connection, which requests come on. */
export interface RequestStreamOwner {
  readonly listener: ListenerContext;
  readonly slot: ConnectionSlot;
  /** Who asks on it. */
  readonly clients: ClientResolver;
  readonly upstreams: UpstreamPool;
  readonly uploads: UploadWindows;
  /** Differs from what it was before when the visitor has taken bytes meanwhile. */
  progress(): unknown;
  /** @param wasBroken whether the visitor took a request back before its response was complete. */
  forget(stream: RequestStream, wasBroken: boolean): void;
}

export class RequestStream implements IntakeEvents {
  readonly #owner: RequestStreamOwner;
  readonly #stream: ServerHttp2Stream;
  readonly #rawHeaders: readonly string[];
  readonly #timeouts: VisitorTimeouts;
  readonly #counter: RequestCounter;
  readonly #writer: Http2ResponseWriter;
  /** Undefined where there is no body. */
  readonly #intake: RequestIntake | undefined;
  #isIntakeOpen = false;
  /** These are there where the head is valid. */
  #source: Http2RequestSource | undefined;
  #pipeline: RequestPipeline | undefined;
  /** Whether nothing is to be done any more but to deliver what was written. */
  #isDone = false;
  /** How far the connection was when it was looked at last. */
  #mark: unknown;

  /** @param rawHeaders names and values in turn, as they came. */
  constructor(stream: ServerHttp2Stream, rawHeaders: readonly string[], owner: RequestStreamOwner) {
    this.#owner = owner;
    this.#stream = stream;
    this.#rawHeaders = rawHeaders;
    this.#intake = stream.endAfterHeaders ? undefined : new RequestIntake(stream, owner.uploads);
    this.#timeouts = new VisitorTimeouts(owner.listener);
    this.#counter = new RequestCounter(owner.listener, owner.slot);
    this.#writer = new Http2ResponseWriter(stream, owner.slot, this.#counter);
    stream.on('error', () => {}); // `close` follows.
    stream.on('close', () => this.#onClose());
    stream.on('drain', () => {
      this.#writer.release();
      this.#timeouts.progress();
      this.#pipeline?.onWritable();
    });
  }

  start(): void {
    const { listener, clients, upstreams } = this.#owner;
    const hasBody = !this.#stream.endAfterHeaders;
    const head = readRequest(this.#rawHeaders, hasBody, listener.scheme);
    if (typeof head === 'string') return void this.#fail(head);
    const source = new Http2RequestSource(head, clients.of(head), this.#rawHeaders, hasBody, () => this.#resume());
    this.#source = source;
    this.#pipeline = new RequestPipeline({
      listener,
      source,
      writer: this.#writer,
      counter: this.#counter,
      timeouts: this.#timeouts,
      upstreams,
      onDone: () => this.#onDone(),
      onUpgrade: ({ stream }) => stream.reset(), // None is agreed to: `Upgrade` does not come over HTTP/2.
    });
    this.#pipeline.start(listener.now());
  }

  sweep(now: number): void {
    this.#writer.sweep();
    if (!this.#timeouts.isDue(now)) return;
    if (!this.#isDone && !this.#pipeline?.hasBegun) this.#pipeline?.onTimeout();
    else if (!this.#isStuck()) this.#timeouts.forProgress(now);
    else if (this.#isDone) this.#writer.cut();
    else this.#pipeline?.onTimeout();
  }

  onData(chunk: Buffer): void {
    const pipeline = this.#pipeline;
    if (!pipeline || chunk.length === 0) return;
    this.#timeouts.progress();
    this.#counter.addReceived(chunk.length);
    if (!this.#source?.take(chunk, (piece) => pipeline.takeBody(piece))) pipeline.fail('badBody');
    else if (!pipeline.wantsBody) this.#intake?.pause();
  }

  onEnd(): void {
    const last = this.#source?.takeEnd(this.#intake?.trailer ?? {});
    if (last) this.#pipeline?.takeBody(last);
    else this.#pipeline?.fail('badBody');
  }

  #resume(): void {
    if (this.#isIntakeOpen) return void this.#intake?.resume();
    this.#isIntakeOpen = true;
    this.#intake?.open(this);
  }

  /** Answers with an error where the head is not valid. */
  #fail(error: VisitorError): void {
    const raw = this.#rawHeaders;
    const fields = raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] as string] as const] : []));
    const reply = errorReply(error, readerOf(fields, true));
    this.#counter.countResponse(reply.countedStatus ?? reply.status);
    const isToHead = fields.some(([name, value]) => name === ':method' && value === 'HEAD');
    this.#writer.reply(reply, isToHead, false);
    this.#onDone();
  }

  /** Whether the visitor has taken nothing at all since it was asked last. */
  #isStuck(): boolean {
    const mark = this.#owner.progress();
    const isStuck = mark === this.#mark;
    this.#mark = mark;
    return isStuck;
  }

  /** The response was written, or there is none. */
  #onDone(): void {
    this.#isDone = true;
    if (this.#writer.isAborted) return;
    this.#timeouts.forProgress(this.#owner.listener.now());
    this.#stopRequest();
  }

  /** What the visitor still sends of the request is of no use: it is told so, once it has the response (RFC 9113, 8.1). */
  #stopRequest(): void {
    const stream = this.#stream;
    if (this.#source ? this.#source.isComplete : stream.endAfterHeaders) return;
    if (this.#isIntakeOpen) this.#intake?.drop();
    const stop = () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
    if (stream.writableFinished) stop();
    else stream.once('finish', stop);
  }

  /** The stream is closed, by us or by the visitor. */
  #onClose(): void {
    const wasBroken = !this.#isDone;
    this.#pipeline?.onVisitorGone();
    this.#pipeline?.report(!wasBroken && this.#writer.isDelivered);
    this.#counter.end();
    this.#writer.release();
    this.#owner.forget(this, wasBroken);
  }
}
