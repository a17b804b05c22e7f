// Interim answers, such as 100 and 103, on their way to a visitor of HTTP/2. Flow control does not count them, and Node keeps
// as many as there are: who sends them without end would fill the memory when nobody reads them.

import type { ServerHttp2Stream } from 'node:http2';

/** Bytes of interim answers that may be given to a stream before it is looked at whether its visitor takes them. */
const UNSEEN_MAX = 64 * 1024;
/** What each takes beside its fields. */
const FRAME_BYTES = 256;

/** Those of one request. Nothing depends on one being read (RFC 9110, section 15.2): what finds no room is left out. */
export class InterimResponses {
  readonly #stream: ServerHttp2Stream;
  #unseen = 0;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  /** Whether one of so many bytes may be sent. */
  admit(bytes: number): boolean {
    const { session, closed, destroyed } = this.#stream;
    if (closed || destroyed || !session || session.destroyed) return false;
    if (this.#unseen >= UNSEEN_MAX) {
      if ((session.state.outboundQueueSize ?? 0) > 0) return false;
      this.#unseen = 0;
    }
    this.#unseen += bytes + FRAME_BYTES;
    return true;
  }
}
