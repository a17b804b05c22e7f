// The body of an answer that is compressed on its way: taken as upstream sends it, given as the visitor gets it.

import type { ContentCoding } from '../../../http/exchange.ts';
import { ChunkedDecoder } from '../../codec/chunked-decoder.ts';
import { BodyEncoder } from './body-encoder.ts';

const LINE_END = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

export interface EncodedBodyEvents {
  write(bytes: Buffer): void;
  /** What of the body is in what is written next: without what frames chunks. */
  onEncoded?(data: Buffer): void;
  /** So much of what upstream sent has been dealt with. */
  onTaken(bytes: number): void;
  /** All is written. */
  onEnd(): void;
  onError(): void;
}

export class EncodedBody {
  /** Bytes of the body as the visitor gets it, so far; what frames chunks is not counted. */
  sent = 0;
  readonly #coding: ContentCoding;
  readonly #encoder: BodyEncoder;
  readonly #unchunk: ChunkedDecoder | undefined;
  readonly #events: EncodedBodyEvents;
  /** Bytes of the body as it was. */
  #taken = 0;

  /**
   * @param isChunked whether upstream sends it in chunks.
   * @param writesChunks whether the visitor is given chunks: what is compressed has no length that is known before.
   */
  constructor(coding: ContentCoding, isChunked: boolean, writesChunks: boolean, events: EncodedBodyEvents) {
    this.#coding = coding;
    this.#events = events;
    if (isChunked) this.#unchunk = new ChunkedDecoder();
    this.#encoder = new BodyEncoder(coding, {
      onData: (data) => {
        this.sent += data.length;
        events.onEncoded?.(data);
        events.write(writesChunks ? chunkOf(data) : data);
      },
      onTaken: (bytes) => events.onTaken(bytes),
      onEnd: () => {
        if (writesChunks) events.write(LAST_CHUNK);
        events.onEnd();
      },
      onError: () => events.onError(),
    });
  }

  /** What it was good for, so far. */
  get compression(): { algorithm: ContentCoding; bytesSaved: number } {
    return { algorithm: this.#coding, bytesSaved: this.#taken - this.sent };
  }

  /** Takes a piece of the body, which was found well formed. @param came how many bytes it was as it came. */
  take(piece: Buffer, came: number): void {
    if (!this.#unchunk) {
      if (piece.length > 0) this.#encode(piece);
      return;
    }
    let length = 0;
    this.#unchunk.take(piece, 0, piece.length, (data) => {
      length += data.length;
      this.#encode(data);
    });
    if (came > length) this.#events.onTaken(came - length); // What frames the chunks.
  }

  end(): void {
    this.#encoder.end();
  }

  destroy(): void {
    this.#encoder.destroy();
  }

  #encode(piece: Buffer): void {
    this.#taken += piece.length;
    this.#encoder.write(piece);
  }
}

function chunkOf(data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`, 'latin1'), data, LINE_END]);
}
