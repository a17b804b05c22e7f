// The body of an answer that is changed or compressed on its way: taken as upstream sends it, given as the visitor gets it.

import type { BodyTransform } from '../../../http/body-transform.ts';
import type { ContentCoding } from '../../../http/exchange.ts';
import { ChunkedDecoder } from '../../codec/chunked-decoder.ts';
import { BodyEncoder } from './body-encoder.ts';
import { BodyTransforms } from './body-transforms.ts';

const LINE_END = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** What becomes of a body: it passes the transforms, and is encoded then. */
export interface BodyRewriting {
  readonly transforms: readonly BodyTransform[];
  readonly encoding: ContentCoding | undefined;
}

export interface RewrittenBodyEvents {
  write(bytes: Buffer): void;
  /** What of the body is in what is written next: without what frames chunks. */
  onRewritten?(data: Buffer): void;
  /** So much of what upstream sent has been dealt with. */
  onTaken(bytes: number): void;
  /** All is written. */
  onEnd(): void;
  /** It cannot go on. @param reason undefined: it could not be encoded. */
  onError(reason: string | undefined): void;
}

export class RewrittenBody {
  /** Bytes of the body as the visitor gets it, so far; what frames chunks is not counted. */
  sent = 0;
  readonly #encoding: ContentCoding | undefined;
  readonly #encoder: BodyEncoder | undefined;
  readonly #transforms: BodyTransforms;
  readonly #unchunk: ChunkedDecoder | undefined;
  readonly #writesChunks: boolean;
  readonly #events: RewrittenBodyEvents;
  /** Bytes of the body before it was encoded. */
  #encoded = 0;
  /** Bytes of upstream that the encoder still works at. */
  #owed = 0;

  /**
   * @param isChunked whether upstream sends it in chunks.
   * @param writesChunks whether the visitor is given chunks: the length is not known before.
   */
  constructor(
    { transforms, encoding }: BodyRewriting,
    isChunked: boolean,
    writesChunks: boolean,
    events: RewrittenBodyEvents,
  ) {
    this.#encoding = encoding;
    this.#writesChunks = writesChunks;
    this.#events = events;
    if (isChunked) this.#unchunk = new ChunkedDecoder();
    if (encoding)
      this.#encoder = new BodyEncoder(encoding, {
        onData: (data) => this.#write(data),
        onTaken: () => this.#settle(),
        onEnd: () => this.#end(),
        onError: () => events.onError(undefined),
      });
    this.#transforms = new BodyTransforms(transforms, {
      onData: (data) => this.#pass(data),
      onTaken: (bytes) => {
        this.#owed += bytes;
        if (!this.#encoder?.isBusy) this.#settle();
      },
      onEnd: () => (this.#encoder ? this.#encoder.end() : this.#end()),
      onError: (reason) => {
        this.#encoder?.destroy();
        events.onError(reason);
      },
    });
  }

  /** What compressing it was good for, so far; undefined where it is not compressed. */
  get compression(): { algorithm: ContentCoding; bytesSaved: number } | undefined {
    return this.#encoding && { algorithm: this.#encoding, bytesSaved: this.#encoded - this.sent };
  }

  /** Takes a piece of the body, which was found well formed. @param came how many bytes it was as it came. */
  take(piece: Buffer, came: number): void {
    if (!this.#unchunk) return void this.#transforms.write(piece);
    let length = 0;
    this.#unchunk.take(piece, 0, piece.length, (data) => {
      length += data.length;
      this.#transforms.write(data);
    });
    if (came > length) this.#events.onTaken(came - length); // What frames the chunks.
  }

  end(): void {
    this.#transforms.end();
  }

  destroy(): void {
    this.#transforms.destroy();
    this.#encoder?.destroy();
  }

  #pass(data: Buffer): void {
    if (!this.#encoder) return void this.#write(data);
    this.#encoded += data.length;
    this.#encoder.write(data);
  }

  #settle(): void {
    const bytes = this.#owed;
    this.#owed = 0;
    if (bytes > 0) this.#events.onTaken(bytes);
  }

  #write(data: Buffer): void {
    this.sent += data.length;
    this.#events.onRewritten?.(data);
    this.#events.write(this.#writesChunks ? chunkOf(data) : data);
  }

  #end(): void {
    if (this.#writesChunks) this.#events.write(LAST_CHUNK);
    this.#events.onEnd();
  }
}

function chunkOf(data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`, 'latin1'), data, LINE_END]);
}
