// The response to one request, as upstream sends it, on its way to the visitor's transport.

import type { ModuleDecisions } from '../../http/exchange.ts';
import { Body, CHUNKED, INVALID } from '../codec/body.ts';
import { MORE, REFUSED } from '../codec/head-reader.ts';
import type { ResponseHead } from '../codec/response-head.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import { HeldResponse } from './body/held-response.ts';
import { type BodyRewriting, RewrittenBody } from './body/rewritten-body.ts';
import { UpstreamResponse } from './pipeline-response.ts';
import type { RequestSource, ResponseWriter } from './transport.ts';

const NO_BODY = new Body(0);
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * How far a response has come. `head`: modules have to decide on it, and `proceed` goes on. `upgrade`: what follows is no
 * HTTP. `surplus`: it is complete, and upstream has sent more than that.
 */
export type ResponseProgress = 'more' | 'head' | 'upgrade' | 'complete' | 'surplus' | 'invalid';

export interface ResponseRelayEvents {
  /** So many of the bytes that upstream sent have been processed: they were written, or are of no use. */
  onTaken(bytes: number): void;
  /** The progress of a body that is rewritten, which is asynchronous. */
  onProgress(progress: ResponseProgress): void;
  /** The body cannot be rewritten as a module wants it, and cannot go on. */
  onUnwritable(reason: string): void;
}

export class ResponseRelay {
  /** Responses such as 100 and 103 that came before it. */
  interims = 0;
  /** As the visitor gets it, once it has begun. */
  status = 0;
  /** What upstream has sent after the head of an upgrade. */
  rest = NOTHING;
  readonly head: ResponseHead;
  readonly #source: RequestSource;
  readonly #writer: ResponseWriter;
  readonly #recording: RequestRecording | undefined;
  readonly #events: ResponseRelayEvents;
  readonly #hasModules: boolean;
  /** From the end of its head on. */
  #body: Body | undefined;
  #rewritten: RewrittenBody | undefined;
  #response: UpstreamResponse | undefined;
  /** What upstream has sent while modules decide on that. */
  #held: HeldResponse | undefined;
  #hasSurplus = false;
  /** Whether upstream will send nothing more. */
  #hasEnded = false;

  /**
   * @param head what heads are read with.
   * @param hasModules whether modules have to decide on the head.
   */
  constructor(
    head: ResponseHead,
    source: RequestSource,
    writer: ResponseWriter,
    recording: RequestRecording | undefined,
    events: ResponseRelayEvents,
    hasModules: boolean,
  ) {
    this.head = head;
    this.#source = source;
    this.#writer = writer;
    this.#recording = recording;
    this.#events = events;
    this.#hasModules = hasModules;
  }

  /** Whether its head was written. */
  get hasBegun(): boolean {
    return this.#body !== undefined;
  }

  /** Whether upstream has sent all of it; what of it is being rewritten may still be under way. */
  get isComplete(): boolean {
    return this.#body?.isComplete === true;
  }

  /** Bytes of the body that were written. */
  get sent(): number {
    return this.#rewritten?.sent ?? this.#body?.taken ?? 0;
  }

  /** What compressing it was good for; undefined where it was not. */
  get compression(): ModuleDecisions['compression'] {
    return this.#rewritten?.compression;
  }

  /** How long the upstream waits for another request on the same stream, in milliseconds; 0 when it takes none. */
  get idleTimeout(): number {
    return this.head.isKeptAlive && !this.#body?.isUntilClose && !this.#hasEnded ? this.head.keepAliveTimeout : 0;
  }

  /** The response as modules see it, when they have to decide on it. */
  get response(): UpstreamResponse {
    return this.#response as UpstreamResponse;
  }

  /** Takes what upstream sends. */
  take(chunk: Buffer): ResponseProgress {
    if (this.#body) return this.#takeBody(this.#body, chunk);
    if (this.#held) {
      this.#held.take(chunk);
      return 'more';
    }
    const { head } = this;
    for (let at = 0; at < chunk.length; ) {
      const end = head.read(chunk, at);
      if (end === MORE) break;
      if (end === REFUSED) return 'invalid';
      if (!head.isInterim) return this.#takeHead(chunk, at, end);
      this.interims++;
      this.#writer.writeInterim(head);
      at = end;
    }
    this.#events.onTaken(chunk.length);
    return 'more';
  }

  /** Upstream sends nothing more. */
  takeEnd(): ResponseProgress {
    this.#hasEnded = true;
    if (this.#held?.end()) return 'invalid';
    if (this.#held || this.isComplete) return 'more';
    if (!this.#body?.isUntilClose) return 'invalid';
    if (this.#rewritten) {
      this.#rewritten.end();
      return 'more';
    }
    this.#writer.end();
    return 'complete';
  }

  /** Goes on after the head, which modules have decided on. */
  proceed(): ResponseProgress {
    const held = this.#held as HeldResponse;
    this.#held = undefined;
    const progress = this.#begin(held.joined(), held.headStart, held.headEnd, this.#response);
    return progress === 'more' && this.#hasEnded ? this.takeEnd() : progress;
  }

  /** What is being rewritten, or read for a module, is of no use any more. */
  cancel(): void {
    this.#rewritten?.destroy();
    this.#held?.cancel();
    for (const transform of this.#response?.transforms ?? []) transform.destroy();
  }

  #takeHead(chunk: Buffer, start: number, end: number): ResponseProgress {
    const { head } = this;
    const { line } = this.#source.head;
    if (head.status === 101) {
      this.rest = chunk.subarray(end);
      this.#events.onTaken(chunk.length);
      return 'upgrade';
    }
    if (line.isHttp10) head.dropTransferEncoding();
    if (!this.#hasModules) return this.#begin(chunk, start, end, undefined);
    const length = head.bodyLength(line.isHead);
    const held = new HeldResponse(chunk, { headStart: start, headEnd: end, length }, (bytes) =>
      this.#events.onTaken(bytes),
    );
    this.#held = held;
    this.#response = new UpstreamResponse(head, length, () => held.collect());
    return 'head';
  }

  /** @returns `invalid` also when the transport cannot carry it. */
  #begin(chunk: Buffer, from: number, headEnd: number, response: UpstreamResponse | undefined): ResponseProgress {
    const { head } = this;
    const recording = this.#recording;
    const length = head.bodyLength(this.#source.head.line.isHead);
    let body = length === 0 ? NO_BODY : new Body(length, true);
    let end = body.take(chunk, headEnd);
    const isMalformed = end === INVALID;
    if (isMalformed) {
      if (!this.#writer.sendsHeadFirst) return 'invalid';
      body = new Body(length, true);
      end = headEnd;
    }
    const changed = response?.isChanged ? response : undefined;
    const status = changed?.status ?? head.status;
    const rewriting = changed?.isBodyRewritten ? changed : undefined;
    const copy = recording?.observer?.response;
    if (copy && !rewriting) {
      if (length === CHUNKED) copy.startChunked();
      copy.take(body.relayed(chunk, headEnd, end));
    }
    const place = { chunk, from, headEnd, end, recording, isBodyRewritten: !!rewriting };
    const started = this.#writer.writeHead({ head, changed, status, length, body, ...place });
    if (started === 'impossible') return 'invalid';
    this.#body = body;
    this.status = status;
    if (isMalformed) return 'invalid';
    this.#hasSurplus = end < chunk.length;
    if (started === 'begun' && rewriting) {
      this.#events.onTaken(headEnd); // What of the body is there follows as it is rewritten.
      this.#rewritten = this.#rewrite(rewriting, length === CHUNKED);
      return this.#takeRewritten(this.#rewritten, body.relayed(chunk, headEnd, end), end - headEnd);
    }
    this.#events.onTaken(chunk.length);
    // What upstream sends nevertheless is of no use to anybody, nor is its stream before it has sent all.
    if (started === 'empty' && !body.isComplete) return 'surplus';
    return this.#progress(body);
  }

  #takeBody(body: Body, chunk: Buffer): ResponseProgress {
    const end = body.take(chunk, 0);
    if (end === INVALID) return 'invalid';
    this.#hasSurplus = end < chunk.length;
    const piece = body.relayed(chunk, 0, end);
    if (this.#rewritten) return this.#takeRewritten(this.#rewritten, piece, end);
    this.#recording?.observer?.response?.take(piece);
    this.#writer.write(piece, body.isComplete);
    this.#events.onTaken(chunk.length);
    return this.#progress(body);
  }

  #progress(body: Body): ResponseProgress {
    if (!body.isComplete) return 'more';
    return this.#hasSurplus ? 'surplus' : 'complete';
  }

  /** @param came how many bytes the piece was as it came. */
  #takeRewritten(rewritten: RewrittenBody, piece: Buffer, came: number): ResponseProgress {
    rewritten.take(piece, came);
    if (this.#body?.isComplete) rewritten.end();
    return 'more';
  }

  #rewrite(rewriting: BodyRewriting, isChunked: boolean): RewrittenBody {
    const events = this.#events;
    const writer = this.#writer;
    return new RewrittenBody(rewriting, isChunked, writer.framesChunks, {
      write: (data) => writer.write(data, false),
      onRewritten: (data) => this.#recording?.observer?.response?.take(data),
      onTaken: (bytes) => events.onTaken(bytes),
      onEnd: () => {
        writer.end();
        events.onProgress(this.#hasSurplus ? 'surplus' : 'complete');
      },
      onError: (reason) => (reason === undefined ? events.onProgress('invalid') : events.onUnwritable(reason)),
    });
  }
}
