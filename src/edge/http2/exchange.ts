// One request of HTTP/2 and its answer. To the upstream it is one of HTTP/1.1, on a stream that has no other meanwhile.

import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ErrorResponseParts } from '../../http/error-response.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { cancel } from '../../protocol/mux/mux-stream.ts';
import type { ByteStream, ErrorCode, StreamEvents } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { forwardedHead } from '../http/forwarded-head.ts';
import { endpointOf } from '../http/front.ts';
import type { RequestHead } from '../http/request-head.ts';
import { type RequestRecording, recordRequest } from '../http/request-recording.ts';
import { errorOf } from '../http/streams.ts';
import type { HeadResponse, OwnAnswer } from '../http/visit-response.ts';
import { RequestCount } from '../visits/counting.ts';
import { Answer, type Standing } from './answer.ts';
import { Handled, type HandledExchange } from './handled.ts';
import { Intake } from './intake.ts';
import { failureOf, headerOf, isDelivered, sendOwn, stopRequest } from './own-answer.ts';
import type { ExchangeOwner } from './owner.ts';
import { StreamPatience } from './patience.ts';
import { readRequest } from './request.ts';
import { RequestBody } from './request-body.ts';

export class Http2Exchange implements StreamEvents, HandledExchange {
  readonly #session: ExchangeOwner;
  readonly #stream: ServerHttp2Stream;
  readonly #rawHeaders: readonly string[];
  readonly #patience: StreamPatience;
  readonly #counting: RequestCount;
  readonly #intake: Intake | undefined;
  #body: RequestBody | undefined;
  #answer: Answer | undefined;
  /** At endpoints with modules. */
  #handled: Handled | undefined;
  #purpose: { endpoint: LiveEndpoint; visitor: Visitor } | undefined;
  #upstream: ByteStream | undefined;
  /** Bytes that the visitor has not taken, and that the upstream gets no new credit for. */
  #held = 0;
  recording: RequestRecording | undefined;
  /** Whether nothing is to be done any more but to deliver what the visitor's stream was given. */
  #isOver = false;

  /** @param rawHeaders names and values in turn, as they came. */
  constructor(stream: ServerHttp2Stream, rawHeaders: readonly string[], session: ExchangeOwner) {
    this.#session = session;
    this.#stream = stream;
    this.#rawHeaders = rawHeaders;
    this.#intake = stream.endAfterHeaders ? undefined : new Intake(stream, session.uploads);
    this.#patience = new StreamPatience(session, stream);
    this.#counting = new RequestCount(session.front, session.place);
    stream.on('error', () => {}); // `close` follows.
    stream.on('close', () => this.#onClose());
    stream.on('drain', () => this.#onTaken());
  }

  start(): void {
    const { front, clients } = this.#session;
    const request = readRequest(this.#rawHeaders, !this.#stream.endAfterHeaders, front.scheme);
    if (typeof request === 'string') return void this.failed(request);
    front.counters.requests++;
    const endpoint = endpointOf(front, request, this);
    if (!endpoint) return;
    if (!this.#counting.begin(endpoint, request, front.now())) return void this.failed('tooManyVisitors');
    const client = clients.of(request);
    this.recording = recordRequest(client, endpoint, request, this.#rawHeaders);
    if (!endpoint.handling) return void this.proceed(endpoint, request);
    this.#patience.forAnswer();
    this.#handled = new Handled(client, endpoint, request, this);
    this.#handled.start();
  }

  sweep(now: number): void {
    if (!this.#patience.sweep(now)) return;
    const waitsForVisitor = this.#body?.isComplete === false && !this.#body.isFull;
    if (!this.#answer?.hasBegun && !this.#isOver) this.failed(waitsForVisitor ? 'requestTimeout' : 'upstreamTimeout');
    else if (this.#patience.isStuck()) this.#cut();
  }

  onData(chunk: Buffer): void {
    this.#patience.progress();
    this.#counting.sent(chunk.length);
    if (this.#handled?.waits(chunk)) return;
    const answer = this.#answer as Answer;
    const { hasBegun, interims } = answer;
    const standing = answer.take(chunk);
    if (!hasBegun && answer.hasBegun) this.#answered(answer.head.status);
    else if (answer.interims > interims && this.#body?.isComplete) this.#patience.forAnswer();
    if (!answer.isEncoded && standing !== 'head') this.onTaken(chunk.length);
    this.onEncoded(standing);
  }

  onEnd(): void {
    if (this.#handled?.waits('end')) return;
    const standing = this.#answer?.endOfUpstream() ?? 'invalid';
    if (standing === 'invalid') this.failed('upstreamClosed');
    else this.onEncoded(standing);
  }

  onTaken(bytes: number): void {
    this.#held += bytes;
    if (this.#stream.writableLength < this.#stream.writableHighWaterMark) this.#onTaken();
    else this.#patience.isBehind(bytes);
  }

  onEncoded(standing: Standing): void {
    if (standing === 'invalid') this.failed('upstreamInvalid');
    else if (standing === 'head') this.#handled?.onAnswer(this.#answer as Answer);
    else if (standing !== 'more' && !this.#isOver) this.#finish(standing === 'surplus');
  }

  begin(response: HeadResponse, more: readonly Buffer[]): void {
    if (this.#isOver) return;
    const standing = (this.#answer as Answer).begin(response, more);
    if (this.#answer?.hasBegun) this.#answered(response.status);
    this.onEncoded(standing);
  }

  onReset(code: ErrorCode): void {
    this.#upstream = undefined;
    if (!this.#answer?.isComplete) this.failed(errorOf(code));
  }

  onDrain(): void {
    this.#patience.progress();
    this.#body?.resume();
  }

  proceed(endpoint: LiveEndpoint, request: RequestHead): void {
    if (this.#isOver) return;
    const { front, idle, clients } = this.#session;
    this.#purpose = { endpoint, visitor: clients.of(request).line.visitor };
    const kept = idle.take(this.#purpose, front.now());
    if (kept && this.recording) this.recording.isConnectionReused = true;
    if (kept) return void this.#send(kept, request);
    this.#patience.forAnswer();
    endpoint.open(this.#purpose.visitor, this).then(
      (opened) => (typeof opened === 'string' ? this.failed(opened) : this.#send(opened, request)),
      () => this.failed('offline'),
    );
  }

  #send(upstream: ByteStream, request: RequestHead): void {
    if (this.#isOver) return void cancel(upstream);
    this.#upstream = upstream;
    this.#answer = new Answer(this.#stream, request.line.isHead, this.#handled && this, this.recording?.observer);
    upstream.events = this;
    const fields = this.#session.clients.of(request).fields.for(request.host);
    upstream.write(this.#handled?.head(fields) ?? forwardedHead(request, fields));
    const body = this.bodyOf(request);
    this.#patience[body.isComplete ? 'forAnswer' : 'forProgress']();
    body.send(upstream);
  }

  bodyOf(request: RequestHead): RequestBody {
    this.#body ??= new RequestBody(this.#stream, this.#intake, request.bodyLength, {
      onProgress: () => this.#patience.progress(),
      counting: this.#counting,
      copy: this.recording?.observer?.request,
      onComplete: () => {
        this.recording?.requested();
        if (!this.#answer?.hasBegun) this.#patience.forAnswer();
      },
      onInvalid: () => this.failed('badBody'),
    });
    return this.#body;
  }

  #answered(status: number, own?: Buffer): void {
    this.#counting.answered(status);
    if (this.#stream.headersSent) this.recording?.answered(status, this.#stream.sentHeaders, own);
    this.#patience.forProgress();
  }

  /** The answer is complete. @param hasSurplus whether the upstream sent more than that. */
  #finish(hasSurplus: boolean): void {
    const { front, idle } = this.#session;
    this.#onTaken();
    const upstream = this.#upstream; // Undefined where it broke after all of the answer had come.
    this.#upstream = undefined;
    if (upstream && (hasSurplus || !this.#body?.isComplete)) cancel(upstream);
    else if (upstream && this.#purpose) idle.keep(upstream, this.#purpose, front.now(), this.#answer?.idleTimeout ?? 0);
    this.#over();
  }

  /** Answers with an error, if there is an answer to be given still; cuts what there is of one otherwise. */
  failed(error: VisitorError): void {
    this.#handled?.failed(error);
    if (this.#answer?.hasBegun) this.#cut();
    else this.refuse(error);
  }

  refuse(error: VisitorError, fields?: ErrorResponseParts['fields']): void {
    this.answer(failureOf(error, this.#rawHeaders, fields));
  }

  answer(answer: OwnAnswer): void {
    if (this.#isOver) return;
    this.#giveUp();
    const sent = sendOwn(this.#stream, answer, headerOf(this.#rawHeaders, ':method') === 'HEAD');
    this.#counting.sent(sent);
    this.#answered(answer.status, answer.body.subarray(0, sent));
    this.#over();
  }

  drop(): void {
    this.#giveUp();
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** Ends the stream so that what there is of the answer is seen to be incomplete. */
  #cut(): void {
    if (!this.#isOver) this.#session.front.counters.cut++;
    this.#giveUp();
    this.#stream.destroy(new Error('the answer was cut short')); // `close` would end it properly first.
  }

  #giveUp(): void {
    this.#isOver = true;
    if (this.#upstream) cancel(this.#upstream);
    this.#upstream = undefined;
    this.#answer?.cancel();
  }

  #over(): void {
    this.#isOver = true;
    this.#patience.forProgress();
    stopRequest(this.#stream, this.#body);
  }

  /** The visitor's stream is closed, by us or by the visitor. */
  #onClose(): void {
    const wasBroken = !this.#isOver;
    this.#handled?.settle('unasked');
    this.#giveUp();
    const { sent = 0, compression } = this.#answer ?? {};
    this.recording?.give(!wasBroken && isDelivered(this.#stream), this.#body?.received ?? 0, sent, compression);
    this.#counting.end();
    this.#patience.hasCaughtUp();
    this.#session.forget(this, wasBroken);
  }

  /** The visitor's stream has taken what it was given. */
  #onTaken(): void {
    this.#patience.progress();
    const held = this.#held;
    this.#held = 0;
    if (held > 0) this.#upstream?.consumed(held);
  }
}
