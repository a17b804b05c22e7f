// A request on a stream to its endpoint, and the response that comes on it.

import { countLoops, GATEWAY_TOKEN, LOOP_FIELD, LOOPS_MAX } from '../../http/loop-field.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import type { ByteStream } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint, OpenFailure } from '../../tunnel/endpoints/endpoint.ts';
import { endToEndFields } from '../codec/fields.ts';
import { forwardedRequestHead } from '../codec/forwarded-request-head.ts';
import { interimHead } from '../codec/relayed-response-head.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { LoggedRequest } from '../reports/logged-request.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import { isRepeatable } from '../upstream/repeatable.ts';
import type { UpstreamStream, UpstreamUser } from '../upstream/upstream-stream.ts';
import type { PipelineRequest } from './pipeline-request.ts';
import type { UpstreamResponse } from './pipeline-response.ts';
import { type ResponseProgress, ResponseRelay, type ResponseRelayEvents } from './response-relay.ts';
import type { PipelineContext } from './transport.ts';

const NOTHING: Buffer = Buffer.alloc(0);
/** What is told a service that may be a gateway again. */
const LOOP_LINE = Buffer.from(`CDN-Loop: ${GATEWAY_TOKEN}\r\n`);

/** Who sent the request; the relay writes the response meanwhile. */
export interface UpstreamRequestEvents {
  /** Modules have to decide on its head; `proceed` goes on. */
  onHead(response: UpstreamResponse): void;
  /** All of it was written. */
  onComplete(): void;
  /** There is none, or not all of it. @param reason why a module cannot change the body as it wants, where that is it. */
  onFailure(error: VisitorError, reason?: string): void;
  /** Both sides speak another protocol from here on. @param rest what upstream has sent after the head. */
  onUpgrade(status: number, head: Buffer, stream: ByteStream, rest: Buffer): void;
  /** An unexpected exception was thrown. */
  onDefect(): void;
}

/** A request that modules have seen. */
interface ModifiedRequest {
  readonly request: PipelineRequest;
  /** What of the body was read for a module. */
  readonly pieces: readonly Buffer[];
}

export class UpstreamRequest implements UpstreamUser, ResponseRelayEvents {
  /** Whether its head was sent: it takes the body from then on. */
  isSent = false;
  /** Whether upstream has as much of the body as it takes for now. */
  isFull = false;
  readonly #context: PipelineContext;
  readonly #events: UpstreamRequestEvents;
  readonly #recording: RequestRecording | undefined;
  readonly #logged: LoggedRequest | undefined;
  readonly #modified: ModifiedRequest | undefined;
  /** Undefined before it is open and after it is over. */
  #stream: UpstreamStream | undefined;
  #relay: ResponseRelay | undefined;
  #isDialed = false;
  #endpoint: LiveEndpoint | undefined;
  /** Whether the request may be sent once more, and what of its body was written until then; undefined: nothing. */
  #mayRepeat = false;
  #sent: Buffer[] | undefined;
  /** What is written of the body when it is sent once more, and what comes before that; undefined at other times. */
  #again: Buffer[] | undefined;

  constructor(
    context: PipelineContext,
    events: UpstreamRequestEvents,
    recording: RequestRecording | undefined,
    logged: LoggedRequest | undefined,
    modified: ModifiedRequest | undefined,
  ) {
    this.#context = context;
    this.#events = events;
    this.#recording = recording;
    this.#logged = logged;
    this.#modified = modified;
  }

  /** Whether the head of the response was written. */
  get hasBegun(): boolean {
    return this.#relay?.hasBegun === true;
  }

  /** The response, where it has come so far. */
  get response(): Pick<ResponseRelay, 'sent' | 'compression'> | undefined {
    return this.#relay;
  }

  /** Sends the request to an endpoint, on a stream that idles or on a new one. */
  send(endpoint: LiveEndpoint, now: number): void {
    const { source, timeouts, upstreams } = this.#context;
    this.#endpoint = endpoint;
    this.#isDialed = endpoint.isDialed === true;
    if (this.#isDialed && loopsOf(source.head) >= LOOPS_MAX) return void this.#events.onFailure('looped');
    const { visitor } = source.client.connection;
    timeouts.forResponse(now);
    const canRepeat = isRepeatable(source.head);
    const stream = upstreams.obtain(endpoint, visitor, this, canRepeat, now);
    this.#stream = stream;
    if (!stream.isReused) return;
    this.#mayRepeat = canRepeat;
    if (this.#recording) this.#recording.isConnectionReused = true;
    this.#write(stream, now);
  }

  /** Takes a piece of the body. */
  takeBody(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.#again) return void this.#again.push(piece);
    if (this.#mayRepeat) this.#sent = [...(this.#sent ?? []), piece];
    this.isFull = this.#stream?.write(piece) === false;
  }

  /** Goes on after the head of the response, which modules have decided on. */
  proceed(): void {
    const relay = this.#relay as ResponseRelay;
    const progress = relay.proceed();
    if (relay.hasBegun) this.#begun(relay);
    this.onProgress(progress);
  }

  /** The visitor has taken what was written. */
  release(): void {
    this.#stream?.release();
  }

  /** The response is of no use any more. */
  cancel(): void {
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#relay?.cancel();
  }

  onOpen(): void {
    const now = this.#context.listener.now();
    this.#context.timeouts.forResponse(now);
    this.#write(this.#stream as UpstreamStream, now);
  }

  onOpenFailure(failure: OpenFailure): void {
    this.#stream = undefined;
    this.#events.onFailure(failure);
  }

  onDefect(): void {
    this.#events.onDefect();
  }

  onDrain(): void {
    this.isFull = false;
    this.#context.timeouts.progress();
    this.#context.source.resume();
  }

  onData(chunk: Buffer): void {
    const { listener, source, timeouts } = this.#context;
    const relay = this.#relay as ResponseRelay;
    timeouts.progress();
    this.#mayRepeat = false;
    if (relay.hasBegun) return void this.onProgress(relay.take(chunk));
    const { interims } = relay;
    const progress = relay.take(chunk);
    if (relay.hasBegun) this.#begun(relay);
    else if (relay.interims > interims && source.isComplete) timeouts.forResponse(listener.now());
    this.onProgress(progress);
  }

  onEnd(): void {
    if (this.#repeat()) return;
    const progress = this.#relay?.takeEnd() ?? 'invalid';
    if (progress === 'invalid') this.#events.onFailure('upstreamClosed');
    else this.onProgress(progress);
  }

  onBreak(error: VisitorError): void {
    if (this.#repeat()) return;
    this.#stream = undefined;
    if (!this.#relay?.isComplete) this.#events.onFailure(error);
  }

  onTaken(bytes: number): void {
    if (!this.#stream) return;
    this.#stream.hold(bytes);
    if (!this.#context.writer.hold(bytes)) this.#stream.release();
  }

  onProgress(progress: ResponseProgress): void {
    const relay = this.#relay as ResponseRelay;
    if (progress === 'more') return;
    if (progress === 'head') this.#events.onHead(relay.response);
    else if (progress === 'invalid') this.#invalid(relay);
    else if (progress === 'upgrade') this.#upgrade(relay);
    else this.#complete(relay, progress === 'surplus');
  }

  onUnwritable(reason: string): void {
    this.#events.onFailure('responseNotSearched', reason);
  }

  /**
   * The connection was an old one, and ended before a byte of an answer: as nginx and HAProxy do, the request is sent once more, on a
   * new one, where that does no harm. @returns whether it is.
   */
  #repeat(): boolean {
    const old = this.#stream;
    if (!this.#mayRepeat || !old) return false;
    this.#mayRepeat = false;
    this.#again = this.#sent ?? [];
    this.isFull = false;
    old.cancel();
    const { listener, source, timeouts, upstreams } = this.#context;
    const { visitor } = source.client.connection;
    const endpoint = old.endpoint.isOpen ? old.endpoint : (this.#endpoint as LiveEndpoint);
    listener.counters.repeated++;
    listener.services.logRepeated?.({ endpointId: endpoint.id, accountId: endpoint.accountId, ip: visitor.ip });
    timeouts.forResponse(listener.now());
    if (this.#recording) this.#recording.isConnectionReused = false;
    this.#stream = upstreams.open(endpoint, visitor, this);
    return true;
  }

  /** Writes the head, and what of the body is there. */
  #write(stream: UpstreamStream, now: number): void {
    const { listener, source, writer, timeouts } = this.#context;
    const recording = this.#recording;
    const wasComplete = source.isComplete;
    const again = this.#again;
    this.#again = undefined;
    const first = this.#modified || again ? NOTHING : source.readFirst();
    if (!first) return void this.#events.onFailure('badBody');
    if (first.length > 0 && this.#mayRepeat) this.#sent = [first];
    if (first.length > 0) recording?.addRequestBytes(first, 0, first.length, source.isComplete);
    stream.head.sharedDomains = listener.settings.sharedDomains;
    this.#relay = new ResponseRelay(stream.head, source, writer, recording, this, this.#modified !== undefined);
    this.isSent = true;
    if (source.head.authenticatesConnection) stream.isAuthenticated = true;
    this.#logged?.sentUpstream(now);
    this.isFull = !stream.write(this.#head(first));
    for (const piece of this.#modified?.pieces ?? []) this.isFull = !stream.write(piece);
    for (const piece of again ?? []) this.isFull = !stream.write(piece);
    if (!source.isComplete) timeouts.forProgress(now);
    if (!wasComplete) source.resume();
  }

  /** The head as upstream gets it. @param first what follows it in the same piece. */
  #head(first: Buffer): Buffer {
    const { head, client } = this.#context.source;
    const forwarded = client.fields.for(head.host);
    const fields = this.#isDialed ? Buffer.concat([LOOP_LINE, forwarded]) : forwarded;
    const request = this.#modified?.request;
    return request?.isChanged ? request.write(fields) : forwardedRequestHead(head, fields, first, 0, first.length);
  }

  /** The head of the response was written. */
  #begun(relay: ResponseRelay): void {
    const { listener, source, counter, timeouts } = this.#context;
    counter.countResponse(relay.status);
    this.#logged?.answered(relay.status);
    if (relay.isComplete) return;
    timeouts.forProgress(listener.now());
    source.head.release();
    relay.head.release();
  }

  /** @param relay whose head, if it was that, may say why. */
  #invalid({ head: { fault } }: ResponseRelay): void {
    if (fault !== undefined) this.#logged?.faulty(fault);
    const { id: endpointId = '', accountId = '' } = this.#endpoint ?? {};
    if (fault !== undefined) this.#context.listener.services.logFault?.({ endpointId, accountId, reason: fault });
    this.#events.onFailure('upstreamInvalid');
  }

  /** @param hasSurplus whether upstream has sent more than the response. */
  #complete(relay: ResponseRelay, hasSurplus: boolean): void {
    const { listener, source, writer, upstreams } = this.#context;
    const stream = this.#stream; // Undefined where it broke after all of the response had come.
    this.#stream = undefined;
    if (hasSurplus || !source.isComplete) stream?.cancel();
    else if (stream) {
      if (!writer.hold(0)) stream.release();
      upstreams.keep(stream, listener.now(), relay.idleTimeout);
    }
    this.#events.onComplete();
  }

  #upgrade({ head, rest }: ResponseRelay): void {
    const stream = this.#stream;
    if (!stream || !this.#context.source.head.isUpgrade) return void this.#events.onFailure('upstreamInvalid');
    this.#stream = undefined;
    this.#events.onUpgrade(head.status, interimHead(head), stream.detach(), rest);
  }
}

/** How often a request has come through a gateway. */
function loopsOf(head: RequestHead): number {
  const fields = endToEndFields(head, 'host');
  return countLoops(fields.flatMap(([name, value]) => (name.toLowerCase() === LOOP_FIELD ? value : [])));
}
