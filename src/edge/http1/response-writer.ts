// The responses on one HTTP/1 connection: as they came where that is possible, and in as few pieces as possible where not.

import type { Socket } from 'node:net';
import { abortSocket, CoalescingWriter } from '../../protocol/relay.ts';
import { CHUNKED, UNTIL_CLOSE } from '../codec/body.ts';
import { pieceOf } from '../codec/bytes.ts';
import { ChunkedDecoder } from '../codec/chunked-decoder.ts';
import { interimHead, relayedResponseHead } from '../codec/relayed-response-head.ts';
import type { ResponseHead } from '../codec/response-head.ts';
import type { RequestCounter } from '../metrics/request-counter.ts';
import { type LocalReply, localReplyBytes } from '../pipeline/pipeline-response.ts';
import type { RequestSource, ResponseStart, ResponseWriter, Upgrade } from '../pipeline/transport.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';

/** What of a body came with its head is copied behind it up to this size, so that both are written as one. */
export const JOIN_MAX = 16 * 1024;

const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
const SWITCHING_PROTOCOLS = 101;
const HEAD_END = '\r\n\r\n';

interface Connection {
  readonly socket: Socket;
  readonly slot: ConnectionSlot;
  readonly counter: RequestCounter;
  /** The request under way. */
  readonly source: RequestSource;
  /** Whether there will be no other request. */
  isClosing(): boolean;
}

export class Http1ResponseWriter implements ResponseWriter {
  /** Whether nothing can follow the response under way. */
  closes = false;
  /** Whether the connection was broken. */
  isAborted = false;
  /** An error can take the place of a response whose body is malformed from the start. */
  readonly sendsHeadFirst = false;
  readonly #connection: Connection;
  readonly #writer: CoalescingWriter;
  /** Where the visitor does not know chunks: HTTP/1.0 (RFC 9112 §6.1). */
  #unchunk: ChunkedDecoder | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#writer = new CoalescingWriter(connection.socket);
  }

  get framesChunks(): boolean {
    return !this.#isToHttp10;
  }

  get #isToHttp10(): boolean {
    return this.#connection.source.head.line.isHttp10;
  }

  writeContinue(): void {
    this.#writeBytes(CONTINUE);
  }

  /** HTTP/1.0 knows none (RFC 9110 §15.2). */
  writeInterim(head: ResponseHead): void {
    if (!this.#isToHttp10) this.#writeBytes(interimHead(head));
  }

  writeHead(start: ResponseStart): 'begun' {
    const { changed, length, isBodyRewritten, body, chunk, headEnd, end, recording } = start;
    const isUnchunked = length === CHUNKED && this.#isToHttp10;
    const isLast = isBodyRewritten ? this.#isToHttp10 : isUnchunked || length === UNTIL_CLOSE;
    // What is left of the request when its response begins may never come; so nothing can follow it.
    this.closes = isLast || !this.#connection.source.isComplete || this.#connection.isClosing();
    this.#unchunk = isUnchunked && !isBodyRewritten ? new ChunkedDecoder() : undefined;
    if (!changed && !isUnchunked && body.isAsItCame) this.#writeRelayed(start, chunk, start.from, headEnd, end);
    else {
      const piece = isBodyRewritten ? undefined : this.#framed(body.relayed(chunk, headEnd, end));
      if (!changed) this.#writeRelayed(start, piece as Buffer, 0, 0, (piece as Buffer).length);
      else {
        const head = this.#changedHead(start);
        recording?.responseStarted(start.status, head.toString('latin1'));
        this.#writeJoined(head, piece, !body.isComplete);
      }
    }
    return 'begun';
  }

  write(piece: Buffer, isLast: boolean): void {
    if (this.#unchunk) this.#unchunk.take(piece, 0, piece.length, (data) => this.#writeBytes(data, true));
    else if (piece.length > 0) this.#writeBytes(piece, !isLast);
  }

  end(): void {}

  hold(bytes: number): boolean {
    const { socket, slot } = this.#connection;
    // Above the mark, the socket is sure to say when all is written. Below it, what waits is too little to matter.
    if (socket.writableLength < socket.writableHighWaterMark) return false;
    slot.hold(bytes);
    return true;
  }

  reply(reply: LocalReply, isToHead: boolean, canGoOn: boolean, recording?: RequestRecording): void {
    this.closes = !canGoOn || this.#connection.isClosing();
    const bytes = localReplyBytes(reply, isToHead, this.closes);
    if (recording) {
      const bodyStart = bytes.indexOf(HEAD_END) + HEAD_END.length;
      recording.responseStarted(reply.status, bytes.toString('latin1', 0, bodyStart), bytes.subarray(bodyStart));
    }
    this.#writeBytes(bytes);
  }

  cut(): void {
    this.closes = true;
    this.isAborted = true;
    abortSocket(this.#connection.socket);
  }

  drop(): void {
    this.closes = true;
    // A reset would take with it what is still on its way of responses to earlier requests.
    if (this.#connection.socket.bytesWritten === 0) this.cut();
  }

  /**
   * Writes the head of a response that changes the protocol, and what upstream sent behind it.
   * @param unread bytes of the new protocol that the visitor has sent.
   * @returns what has to be called once, when the new protocol is over.
   */
  writeUpgrade({ head, rest, recording, onClose }: Upgrade, unread: number): (wasCut: boolean) => void {
    this.#writeBytes(head);
    recording?.responseStarted(SWITCHING_PROTOCOLS, head.toString('latin1'));
    const onEnd = recording?.upgraded(unread + this.#connection.socket.readableLength);
    if (rest.length > 0) this.#writeBytes(rest);
    return (wasCut) => {
      onEnd?.(wasCut);
      onClose?.(wasCut);
    };
  }

  /** @param isPart whether more of the response follows. */
  #writeBytes(bytes: Buffer, isPart = false): void {
    this.#connection.counter.addSent(bytes.length);
    this.#writer.write(bytes, isPart);
  }

  /** The head that upstream sent, and the beginning of the body. */
  #writeRelayed(
    { head, body, recording }: ResponseStart,
    chunk: Buffer,
    from: number,
    headEnd: number,
    end: number,
  ): void {
    const joined = end - headEnd <= JOIN_MAX ? end : headEnd;
    const rewritten = relayedResponseHead(head, this.closes, this.#isToHttp10, chunk, headEnd, joined);
    if (recording) {
      const sent =
        rewritten?.subarray(0, rewritten.length - joined + headEnd) ?? head.bytes.subarray(head.start, head.end);
      recording.responseStarted(head.status, sent.toString('latin1'));
    }
    if (!rewritten && head.bytes === chunk) return void this.#writeBytes(pieceOf(chunk, from, end), !body.isComplete);
    const rest = rewritten ? joined : headEnd;
    this.#writeBytes(rewritten ?? head.bytes.subarray(head.start, head.end), rest < end || !body.isComplete);
    if (rest < end) this.#writeBytes(chunk.subarray(rest, end), !body.isComplete);
  }

  #writeJoined(head: Buffer, body: Buffer | undefined, isPart: boolean): void {
    if (body && body.length <= JOIN_MAX) return void this.#writeBytes(Buffer.concat([head, body]), isPart);
    this.#writeBytes(head, body !== undefined || isPart);
    if (body) this.#writeBytes(body, isPart);
  }

  /** The head that modules have made. */
  #changedHead({ changed, isBodyRewritten }: ResponseStart): Buffer {
    if (isBodyRewritten && !this.#isToHttp10) changed?.fields.set('Transfer-Encoding', 'chunked');
    const hop = this.closes ? 'Connection: close\r\n' : this.#isToHttp10 ? 'Connection: keep-alive\r\n' : '';
    return Buffer.from(`${changed?.write()}${hop}\r\n`, 'latin1');
  }

  #framed(piece: Buffer): Buffer {
    if (!this.#unchunk) return piece;
    const parts: Buffer[] = [];
    this.#unchunk.take(piece, 0, piece.length, (data) => parts.push(data));
    return Buffer.concat(parts);
  }
}
