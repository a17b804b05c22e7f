// One request of HTTP/2 and its answer. To the upstream it is one of HTTP/1.1, on a stream that has no other meanwhile.

import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ErrorResponseParts } from '../../http/error-response.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { cancelStream } from '../../protocol/mux/mux-stream.ts';
import type { ByteStream, ErrorCode, StreamEvents } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { forwardedRequestHead } from '../codec/forwarded-request-head.ts';
import type { RequestHead } from '../codec/request-head.ts';
import { RequestCounter } from '../metrics/request-counter.ts';
import { errorOfReset } from '../pipeline/draining-streams.ts';
import { endpointOf } from '../pipeline/listener-context.ts';
import type { LocalReply, UpstreamResponse } from '../pipeline/pipeline-response.ts';
import { type RequestRecording, recordRequest } from '../reports/request-recording.ts';
import { errorReplyFor, headerOf, isDelivered, sendLocalReply, stopRequest } from './local-reply.ts';
import { type ExecutedExchange, Http2ModuleExecution } from './module-execution.ts';
import type { Http2ConnectionContext } from './owner.ts';
import { readRequest } from './request.ts';
import { RequestBody } from './request-body.ts';
import { RequestIntake } from './request-intake.ts';
import { Http2ResponseRelay, type ResponseProgress } from './response-relay.ts';
import { StreamTimeouts } from './stream-timeouts.ts';

export class Http2Exchange implements StreamEvents, ExecutedExchange {
  readonly #session: Http2ConnectionContext;
  readonly #stream: ServerHttp2Stream;
  readonly #rawHeaders: readonly string[];
  readonly #timeouts: StreamTimeouts;
  readonly #counter: RequestCounter;
  readonly #intake: RequestIntake | undefined;
  #body: RequestBody | undefined;
  #answer: Http2ResponseRelay | undefined;
  /** At endpoints with modules. */
  #handled: Http2ModuleExecution | undefined;
  #purpose: { endpoint: LiveEndpoint; visitor: Visitor } | undefined;
  #upstream: ByteStream | undefined;
  #held = 0; // Bytes that the visitor has not taken, and that the upstream gets no new credit for.
  recording: RequestRecording | undefined;
  /** Whether nothing is to be done any more but to deliver what the visitor's stream was given. */
  #isOver = false;

  /** @param rawHeaders names and values in turn, as they came. */
  constructor(stream: ServerHttp2Stream, rawHeaders: readonly string[], session: Http2ConnectionContext) {
    this.#session = session;
    this.#stream = stream;
    this.#rawHeaders = rawHeaders;
    this.#intake = stream.endAfterHeaders ? undefined : new RequestIntake(stream, session.uploads);
    this.#timeouts = new StreamTimeouts(session, stream);
    this.#counter = new RequestCounter(session.front, session.place);
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
    if (!this.#counter.begin(endpoint, request, front.now())) return void this.failed('tooManyVisitors');
    const client = clients.of(request);
    this.recording = recordRequest(client, endpoint, request, this.#rawHeaders);
    if (!endpoint.handling) return void this.proceed(endpoint, request);
    this.#timeouts.forAnswer();
    this.#handled = new Http2ModuleExecution(client, endpoint, request, this);
    this.#handled.start();
  }

  sweep(now: number): void {
    if (!this.#timeouts.sweep(now)) return;
    const waitsForVisitor = this.#body?.isComplete === false && !this.#body.isFull;
    if (!this.#answer?.hasBegun && !this.#isOver) this.failed(waitsForVisitor ? 'requestTimeout' : 'upstreamTimeout');
    else if (this.#timeouts.isStuck()) this.#cut();
  }

  onData(chunk: Buffer): void {
    this.#timeouts.progress();
    this.#counter.addSent(chunk.length);
    if (this.#handled?.waits(chunk)) return;
    const answer = this.#answer as Http2ResponseRelay;
    const { hasBegun, interims } = answer;
    const standing = answer.take(chunk);
    if (!hasBegun && answer.hasBegun) this.#answered(answer.head.status);
    else if (answer.interims > interims && this.#body?.isComplete) this.#timeouts.forAnswer();
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
    else this.#timeouts.isBehind(bytes);
  }

  onEncoded(standing: ResponseProgress): void {
    if (standing === 'invalid') this.failed('upstreamInvalid');
    else if (standing === 'head') this.#handled?.onAnswer(this.#answer as Http2ResponseRelay);
    else if (standing !== 'more' && !this.#isOver) this.#finish(standing === 'surplus');
  }

  begin(response: UpstreamResponse, more: readonly Buffer[]): void {
    if (this.#isOver) return;
    const standing = (this.#answer as Http2ResponseRelay).begin(response, more);
    if (this.#answer?.hasBegun) this.#answered(response.status);
    this.onEncoded(standing);
  }

  onReset(code: ErrorCode): void {
    this.#upstream = undefined;
    if (!this.#answer?.isComplete) this.failed(errorOfReset(code));
  }

  onDrain(): void {
    this.#timeouts.progress();
    this.#body?.resume();
  }

  proceed(endpoint: LiveEndpoint, request: RequestHead): void {
    if (this.#isOver) return;
    const { front, idle, clients } = this.#session;
    this.#purpose = { endpoint, visitor: clients.of(request).connection.visitor };
    const kept = idle.take(this.#purpose, front.now());
    if (kept && this.recording) this.recording.isConnectionReused = true;
    if (kept) return void this.#send(kept, request);
    this.#timeouts.forAnswer();
    endpoint.open(this.#purpose.visitor, this).then(
      (opened) => (typeof opened === 'string' ? this.failed(opened) : this.#send(opened, request)),
      () => this.failed('offline'),
    );
  }

  #send(upstream: ByteStream, request: RequestHead): void {
    if (this.#isOver) return void cancelStream(upstream);
    this.#upstream = upstream;
    const observer = this.recording?.observer;
    this.#answer = new Http2ResponseRelay(this.#stream, request.line.isHead, this.#handled && this, observer);
    upstream.events = this;
    const fields = this.#session.clients.of(request).fields.for(request.host);
    upstream.write(this.#handled?.head(fields) ?? forwardedRequestHead(request, fields));
    const body = this.bodyOf(request);
    this.#timeouts[body.isComplete ? 'forAnswer' : 'forProgress']();
    body.send(upstream);
  }

  bodyOf(request: RequestHead): RequestBody {
    this.#body ??= new RequestBody(this.#stream, this.#intake, request.bodyLength, {
      onProgress: () => this.#timeouts.progress(),
      counter: this.#counter,
      copy: this.recording?.observer?.request,
      onComplete: () => {
        this.recording?.requestCompleted();
        if (!this.#answer?.hasBegun) this.#timeouts.forAnswer();
      },
      onInvalid: () => this.failed('badBody'),
    });
    return this.#body;
  }

  #answered(status: number, own?: Buffer): void {
    this.#counter.countResponse(status);
    if (this.#stream.headersSent) this.recording?.responseStarted(status, this.#stream.sentHeaders, own);
    this.#timeouts.forProgress();
  }

  /** The answer is complete. @param hasSurplus whether the upstream sent more than that. */
  #finish(hasSurplus: boolean): void {
    const { front, idle } = this.#session;
    this.#onTaken();
    const upstream = this.#upstream; // Undefined where it broke after all of the answer had come.
    this.#upstream = undefined;
    if (upstream && (hasSurplus || !this.#body?.isComplete)) cancelStream(upstream);
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
    this.answer(errorReplyFor(error, this.#rawHeaders, fields));
  }

  answer(answer: LocalReply): void {
    if (this.#isOver) return;
    this.#giveUp();
    const sent = sendLocalReply(this.#stream, answer, headerOf(this.#rawHeaders, ':method') === 'HEAD');
    this.#counter.addSent(sent);
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
    if (this.#upstream) cancelStream(this.#upstream);
    this.#upstream = undefined;
    this.#answer?.cancel();
  }

  #over(): void {
    this.#isOver = true;
    this.#timeouts.forProgress();
    stopRequest(this.#stream, this.#body);
  }

  /** The visitor's stream is closed, by us or by the visitor. */
  #onClose(): void {
    const wasBroken = !this.#isOver;
    this.#handled?.settle('unasked');
    this.#giveUp();
    const { sent = 0, compression } = this.#answer ?? {};
    this.recording?.finish(!wasBroken && isDelivered(this.#stream), this.#body?.received ?? 0, sent, compression);
    this.#counter.end();
    this.#timeouts.hasCaughtUp();
    this.#session.forget(this, wasBroken);
  }

  /** The visitor's stream has taken what it was given. */
  #onTaken(): void {
    this.#timeouts.progress();
    const held = this.#held;
    this.#held = 0;
    if (held > 0) this.#upstream?.consumed(held);
  }
}
