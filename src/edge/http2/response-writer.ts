// The response to one request of HTTP/2: what comes as HTTP/1 leaves as HTTP/2.

import { constants, type ServerHttp2Stream } from 'node:http2';
import { isGrpc } from '../../http/grpc-status.ts';
import { CoalescingWriter } from '../../protocol/relay.ts';
import { CHUNKED } from '../codec/body.ts';
import { ChunkedDecoder } from '../codec/chunked-decoder.ts';
import { responseFields, toHttp2Fields, trailerFields } from '../codec/http2/fields.ts';
import { hasNoContent, inform, respond, sendTrailers } from '../codec/http2/stream-calls.ts';
import type { ResponseHead } from '../codec/response-head.ts';
import type { RequestCounter } from '../metrics/request-counter.ts';
import type { LocalReply } from '../pipeline/pipeline-response.ts';
import type { ResponseStart, ResponseWriter, StartResult } from '../pipeline/transport.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { InterimResponses } from './interim-responses.ts';

/** What a stream takes beside the bytes that wait on it. */
const STREAM_BYTES = 8 * 1024;

export class Http2ResponseWriter implements ResponseWriter {
  readonly framesChunks = false;
  readonly sendsHeadFirst = true;
  /** Whether the response was given up. */
  isAborted = false;
  readonly #stream: ServerHttp2Stream;
  readonly #writer: CoalescingWriter;
  readonly #slot: ConnectionSlot;
  readonly #counter: RequestCounter;
  #unchunk: ChunkedDecoder | undefined;
  #interims: InterimResponses | undefined;
  /** Bytes of the response that the visitor has not taken. */
  #behind = 0;

  constructor(stream: ServerHttp2Stream, slot: ConnectionSlot, counter: RequestCounter) {
    this.#stream = stream;
    this.#writer = new CoalescingWriter(stream);
    this.#slot = slot;
    this.#counter = counter;
    stream.on('wantTrailers', () => sendTrailers(stream, trailerFields(this.#unchunk?.trailer)));
  }

  /**
   * Whether all of the response has left; of a stream that is closed. It may be closed before Node says that the last bytes
   * are written; what was cut was aborted, or has a code.
   */
  get isDelivered(): boolean {
    const { writableEnded, aborted, rstCode } = this.#stream;
    return writableEnded && !aborted && rstCode === constants.NGHTTP2_NO_ERROR;
  }

  writeContinue(): void {
    inform(this.#stream, 100);
  }

  writeInterim(head: ResponseHead): void {
    const bytes = head.end - head.start;
    this.#counter.addSent(bytes);
    this.#interims ??= new InterimResponses(this.#stream);
    if (this.#interims.admit(bytes)) inform(this.#stream, head.status, responseFields(head));
  }

  writeHead(start: ResponseStart): StartResult {
    const { head, changed, status, length, isBodyRewritten, body } = start;
    const fields = changed ? toHttp2Fields(changed.fields.list) : responseFields(head);
    // Of gRPC it is a status without messages, which states no length (see `answerLines` of translation.ts).
    if (length === 0 && isGrpc(fields['content-type'])) delete fields['content-length'];
    const options = { endStream: length === 0, waitForTrailers: length === CHUNKED && !isBodyRewritten };
    if (!respond(this.#stream, status, fields, options)) return 'impossible';
    this.#counter.addSent(head.end - head.start);
    if (this.#stream.headersSent) start.recording?.responseStarted(status, this.#stream.sentHeaders);
    if (hasNoContent(status)) return 'empty';
    if (isBodyRewritten) return 'begun';
    if (length === CHUNKED) this.#unchunk = new ChunkedDecoder();
    this.write(body.relayed(start.chunk, start.headEnd, start.end), body.isComplete);
    return 'begun';
  }

  write(piece: Buffer, isLast: boolean): void {
    this.#counter.addSent(piece.length);
    if (this.#unchunk) this.#unchunk.take(piece, 0, piece.length, (data) => this.#writer.write(data));
    else if (piece.length > 0 && isLast) this.#stream.end(piece);
    else if (piece.length > 0) this.#writer.write(piece);
    if (isLast && !this.#stream.writableEnded) this.#stream.end();
  }

  end(): void {
    this.#stream.end();
  }

  /** Where the response is complete, upstream's stream is needed for another one. */
  hold(bytes: number): boolean {
    const { writableLength, writableHighWaterMark, writableEnded } = this.#stream;
    if (writableLength < writableHighWaterMark) return false;
    this.#isBehindBy(this.#behind + bytes);
    return !writableEnded;
  }

  /** To be called now and then: little is not told when it comes, and may wait for long. */
  sweep(): void {
    const { writableLength } = this.#stream;
    this.#isBehindBy(writableLength > 0 ? writableLength + STREAM_BYTES : 0);
  }

  /** The visitor has taken everything, or is gone. */
  release(): void {
    this.#isBehindBy(0);
  }

  /** Ends the stream where the response cannot be sent. */
  reply(
    { status, fields, body }: LocalReply,
    isToHead: boolean,
    _canGoOn: boolean,
    recording?: RequestRecording,
  ): void {
    const stream = this.#stream;
    const isEmpty = body.length === 0 || isToHead || hasNoContent(status);
    const isSent = respond(stream, status, toHttp2Fields(fields), { endStream: isEmpty });
    const content = isEmpty || !isSent ? body.subarray(0, 0) : body;
    if (!isSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else if (!isEmpty) stream.end(body);
    this.#counter.addSent(content.length);
    if (stream.headersSent) recording?.responseStarted(status, stream.sentHeaders, content);
  }

  cut(): void {
    this.isAborted = true;
    this.#stream.destroy(new Error('the response was cut short')); // `close` would end it properly first.
  }

  drop(): void {
    this.isAborted = true;
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #isBehindBy(bytes: number): void {
    if (bytes > this.#behind) this.#slot.hold(bytes - this.#behind);
    else if (bytes < this.#behind) this.#slot.release(this.#behind - bytes);
    this.#behind = bytes;
  }
}
