// A request of HTTP/2 and its body, as HTTP/1.1 has them.

import type { IncomingHttpHeaders } from 'node:http2';
import { Body, CHUNKED, INVALID } from '../codec/body.ts';
import { ChunkedBody } from '../codec/chunked-body.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { RequestClient } from '../pipeline/clients.ts';
import type { RequestSource } from '../pipeline/transport.ts';

const NOTHING = Buffer.alloc(0);
const LINE_END = Buffer.from('\r\n');

export class Http2RequestSource implements RequestSource {
  readonly isReadable = false;
  isComplete: boolean;
  bodyLength = 0;
  readonly head: RequestHead;
  readonly client: RequestClient;
  readonly http2Fields: readonly string[];
  /** Called when the pipeline takes the body again. */
  readonly resume: () => void;
  /** Whether no length was stated, and the body goes on in chunks. */
  readonly #isChunked: boolean;
  /** Holds what comes against the length that was stated; a request that says more would be two to the upstream. */
  readonly #stated: Body;

  constructor(
    head: RequestHead,
    client: RequestClient,
    http2Fields: readonly string[],
    hasBody: boolean,
    resume: () => void,
  ) {
    this.head = head;
    this.client = client;
    this.http2Fields = http2Fields;
    this.isComplete = !hasBody;
    this.resume = resume;
    this.#isChunked = head.bodyLength === CHUNKED;
    this.#stated = new Body(this.#isChunked ? 0 : head.bodyLength);
  }

  get hasCome(): boolean {
    return this.isComplete;
  }

  readFirst(): Buffer {
    return NOTHING;
  }

  /** Takes a piece of the body. @param onPiece is given what goes on. @returns false when it is more than was stated. */
  take(chunk: Buffer, onPiece: (piece: Buffer) => void): boolean {
    this.bodyLength += chunk.length;
    if (this.#isChunked) {
      onPiece(Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'));
      onPiece(chunk);
      onPiece(LINE_END);
      return true;
    }
    if (this.#stated.take(chunk, 0) !== chunk.length) return false;
    onPiece(chunk);
    return true;
  }

  /** The body is complete. @returns what goes on of its end; undefined when that is not valid. */
  takeEnd(trailer: IncomingHttpHeaders): Buffer | undefined {
    this.isComplete = true;
    if (!this.#isChunked) return this.#stated.isComplete ? NOTHING : undefined;
    const last = Buffer.from(`0\r\n${linesOf(trailer)}\r\n`, 'latin1');
    const check = new ChunkedBody();
    return check.take(last, 0) !== INVALID && check.isComplete ? last : undefined;
  }
}

function linesOf(fields: IncomingHttpHeaders): string {
  return Object.entries(fields)
    .flatMap(([name, value]) => [value ?? []].flat().map((each) => `${name}: ${each}\r\n`))
    .join('');
}
