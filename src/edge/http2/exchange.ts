// One request of HTTP/2 and its answer. To the upstream it is one of HTTP/1.1, on a stream that has no other meanwhile.

import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ByteStream, ErrorCode, StreamEvents } from '../../protocol/stream.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoint.ts';
import { type VisitorError, visitorErrors } from '../errors.ts';
import { acceptsHtml, failureAnswer } from '../failure.ts';
import { Deadline } from '../http/deadline.ts';
import { forwardedHead, visitorFields } from '../http/forwarded-head.ts';
import { countAnswer, type Front } from '../http/front.ts';
import { REDIRECTION } from '../http/redirection.ts';
import type { RequestHead } from '../http/request-head.ts';
import { cancel, errorOf, type LeavingStreams } from '../http/streams.ts';
import { Answer } from './answer.ts';
import { respond, toFields } from './answer-fields.ts';
import { readRequest } from './request.ts';
import { RequestBody } from './request-body.ts';
import type { IdleStreams } from './streams.ts';

/** The visitor's connection, which requests come on. */
export interface ExchangeOwner {
  readonly front: Front;
  readonly visitor: Visitor;
  readonly idle: IdleStreams;
  readonly leaving: LeavingStreams;
  /** Differs from what it was before when the visitor has taken bytes meanwhile. */
  progress(): unknown;
  /** @param wasBroken whether the visitor took a request back before its answer was complete. */
  forget(exchange: Http2Exchange, wasBroken: boolean): void;
}

export class Http2Exchange implements StreamEvents {
  readonly #session: ExchangeOwner;
  readonly #stream: ServerHttp2Stream;
  readonly #rawHeaders: readonly string[];
  readonly #deadline = new Deadline();
  #body: RequestBody | undefined;
  #answer: Answer | undefined;
  #endpoint: LiveEndpoint | undefined;
  #upstream: ByteStream | undefined;
  /** Bytes that the visitor has not taken, and that the upstream gets no new credit for. */
  #held = 0;
  /** How far the connection was when the deadline was looked at last. */
  #mark: unknown;
  /** Whether nothing is to be done any more but to deliver what the visitor's stream was given. */
  #isOver = false;

  /** @param rawHeaders names and values in turn, as they came. */
  constructor(stream: ServerHttp2Stream, rawHeaders: readonly string[], session: ExchangeOwner) {
    this.#session = session;
    this.#stream = stream;
    this.#rawHeaders = rawHeaders;
    stream.on('error', () => {}); // `close` follows.
    stream.on('close', () => this.#onClose());
    stream.on('drain', () => this.#onTaken());
  }

  start(): void {
    const { front } = this.#session;
    const request = readRequest(this.#rawHeaders, !this.#stream.endAfterHeaders, front.scheme);
    if (typeof request === 'string') return void this.#fail(request);
    front.counters.requests++;
    if (front.authority?.(request.hostname) === false) return void this.#fail('misdirected');
    const endpoint = front.find(request.hostname);
    if (endpoint) this.#open(endpoint, request);
    else this.#explain(request);
  }

  sweep(now: number): void {
    if (!this.#deadline.isDue(now)) return;
    if (this.#answer?.hasBegun || this.#isOver) {
      const mark = this.#session.progress();
      if (mark === this.#mark) return void this.#cut();
      this.#mark = mark;
      this.#expectProgress();
    } else {
      const isVisitorSlow = this.#body?.isComplete === false && !this.#body.isFull;
      this.#fail(isVisitorSlow ? 'requestTimeout' : 'upstreamTimeout');
    }
  }

  onData(chunk: Buffer): void {
    const answer = this.#answer as Answer;
    const { hasBegun, interims } = answer;
    this.#deadline.progress();
    const standing = answer.take(chunk);
    this.#session.front.counters.traffic.toSocket += chunk.length;
    if (standing === 'invalid') return void this.#fail('upstreamInvalid');
    if (!hasBegun && answer.hasBegun) {
      countAnswer(this.#session.front.counters, answer.head.status);
      this.#expectProgress();
    } else if (answer.interims > interims && this.#body?.isComplete) this.#expectAnswer();
    this.#held += chunk.length;
    // Above the mark, the stream is sure to say when all is written. Below it, what waits is too little to matter.
    if (this.#stream.writableLength < this.#stream.writableHighWaterMark) this.#onTaken();
    if (standing !== 'more') this.#finish(standing === 'surplus');
  }

  onEnd(): void {
    if (this.#answer?.endOfUpstream()) this.#finish(false);
    else this.#fail('upstreamClosed');
  }

  onReset(code: ErrorCode): void {
    this.#upstream = undefined;
    this.#fail(errorOf(code));
  }

  onDrain(): void {
    this.#deadline.progress();
    this.#body?.resume();
  }

  #open(endpoint: LiveEndpoint, request: RequestHead): void {
    const { front, idle, visitor } = this.#session;
    const now = front.now();
    this.#endpoint = endpoint;
    const kept = idle.take(endpoint, now);
    if (kept) return void this.#send(kept, request);
    this.#deadline.in(now, front.settings.upstreamTimeout);
    endpoint.open(visitor, this).then(
      (opened) => (typeof opened === 'string' ? this.#fail(opened) : this.#send(opened, request)),
      () => this.#fail('offline'),
    );
  }

  #send(upstream: ByteStream, request: RequestHead): void {
    if (this.#isOver) return void cancel(upstream);
    const { front, visitor } = this.#session;
    this.#upstream = upstream;
    this.#answer = new Answer(this.#stream, request.line.isHead);
    upstream.events = this;
    upstream.write(forwardedHead(request, visitorFields(visitor.ip, front.scheme, request.host)));
    this.#body = new RequestBody(this.#stream, request.bodyLength, {
      onProgress: () => this.#deadline.progress(),
      onComplete: () => {
        if (!this.#answer?.hasBegun) this.#expectAnswer();
      },
      onInvalid: () => this.#fail('badBody'),
    });
    if (this.#body.isComplete) return void this.#expectAnswer();
    this.#expectProgress();
    this.#body.send(upstream);
  }

  /** The answer is complete. @param hasSurplus whether the upstream sent more than that. */
  #finish(hasSurplus: boolean): void {
    const { front, idle, leaving } = this.#session;
    const { head, isKeptAlive } = this.#answer as Answer;
    const upstream = this.#upstream as ByteStream;
    this.#onTaken();
    this.#upstream = undefined;
    const now = front.now();
    if (hasSurplus || !this.#body?.isComplete) cancel(upstream);
    else if (isKeptAlive) idle.keep(upstream, this.#endpoint as LiveEndpoint, now, head.keepAliveTimeout);
    else leaving.add(upstream, now);
    this.#over();
  }

  #explain(request: RequestHead): void {
    const { front } = this.#session;
    const origin = front.redirect?.(request.hostname);
    if (origin !== undefined) return void this.#redirect(origin, request);
    front.whereIs(request.hostname).then(
      (where) => this.#fail(where === 'unknown' ? 'unknownName' : where),
      () => this.#fail('unavailable'),
    );
  }

  #redirect(origin: string, { bytes, line }: RequestHead): void {
    const target = bytes.toString('latin1', line.targetStart, line.targetEnd);
    const location = `${origin}${target === '*' ? '/' : target}`;
    countAnswer(this.#session.front.counters, REDIRECTION);
    respond(this.#stream, REDIRECTION, { location, 'cache-control': 'no-store' }, { endStream: true });
    this.#over();
  }

  /** Answers with an error, if there is an answer to be given still; cuts what there is of one otherwise. */
  #fail(error: VisitorError): void {
    if (this.#answer?.hasBegun) return void this.#cut();
    if (this.#isOver) return;
    this.#giveUp();
    const { status, fields, body } = failureAnswer(error, acceptsHtml(this.#header('accept')));
    const isToHead = this.#header(':method') === 'HEAD';
    countAnswer(this.#session.front.counters, visitorErrors[error].status);
    respond(this.#stream, status, toFields(fields), { endStream: isToHead });
    if (!isToHead) this.#stream.end(body);
    this.#over();
  }

  /** Ends the stream so that what there is of the answer is seen to be incomplete. */
  #cut(): void {
    if (!this.#isOver) this.#session.front.counters.cut++;
    this.#giveUp();
    this.#isOver = true;
    this.#stream.destroy(new Error('the answer was cut short')); // `close` would end it properly first.
  }

  #giveUp(): void {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    if (upstream) cancel(upstream);
  }

  /** What the visitor still sends of the request is of no use: it is told so, once it has the answer (RFC 9113, 8.1). */
  #over(): void {
    this.#isOver = true;
    this.#expectProgress();
    const stream = this.#stream;
    if (this.#body ? this.#body.isComplete : stream.endAfterHeaders) return;
    this.#body?.stop();
    const stop = () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
    if (stream.writableFinished) stop();
    else stream.once('finish', stop);
  }

  /** The visitor's stream is closed, by us or by the visitor. */
  #onClose(): void {
    const wasBroken = !this.#isOver;
    this.#isOver = true;
    this.#giveUp();
    this.#session.forget(this, wasBroken);
  }

  /** The visitor's stream has taken what it was given. */
  #onTaken(): void {
    this.#deadline.progress();
    const held = this.#held;
    this.#held = 0;
    if (held > 0) this.#upstream?.consumed(held);
  }

  #expectAnswer(): void {
    const { front } = this.#session;
    this.#deadline.in(front.now(), front.settings.upstreamTimeout);
  }

  #expectProgress(): void {
    const { front } = this.#session;
    this.#deadline.withoutProgress(front.now(), front.settings.stallTimeout);
  }

  #header(name: string): string {
    const at = this.#rawHeaders.findIndex((each, i) => i % 2 === 0 && each === name);
    return at < 0 ? '' : (this.#rawHeaders[at + 1] as string);
  }
}
