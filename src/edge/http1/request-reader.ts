// The requests of one HTTP/1 connection, one after the other, out of what the visitor has sent.

import { Body, CHUNKED, INVALID } from '../codec/body.ts';
import { RequestHead } from '../codec/request-head.ts';
import type { RequestCounter } from '../metrics/request-counter.ts';
import type { ClientResolver, RequestClient } from '../pipeline/clients.ts';
import type { RequestSource } from '../pipeline/transport.ts';
import { JOIN_MAX } from './response-writer.ts';

const NOTHING: Buffer = Buffer.alloc(0);
const NO_BODY = new Body(0);

export class Http1RequestReader implements RequestSource {
  readonly head = new RequestHead();
  /** Of the request under way, or the one before. */
  client: RequestClient;
  /** Called when the pipeline takes the body again. */
  readonly resume: () => void;
  readonly #clients: ClientResolver;
  readonly #counter: RequestCounter;
  #body = NO_BODY;
  /** What was not read yet, from the index on. */
  #bytes = NOTHING;
  #at = 0;

  constructor(clients: ClientResolver, counter: RequestCounter, resume: () => void) {
    this.client = clients.own;
    this.#clients = clients;
    this.#counter = counter;
    this.resume = resume;
  }

  get isComplete(): boolean {
    return this.#body.isComplete;
  }

  get hasCome(): boolean {
    const { bodyLength } = this.head;
    return this.isComplete || (bodyLength !== CHUNKED && this.unread >= bodyLength - this.#body.taken);
  }

  get bodyLength(): number {
    return this.#body.taken;
  }

  get isReadable(): boolean {
    return this.#at < this.#bytes.length;
  }

  /** How many bytes were not read. */
  get unread(): number {
    return this.#bytes.length - this.#at;
  }

  /** The visitor has sent more. */
  add(chunk: Buffer): void {
    this.#bytes = this.isReadable ? Buffer.concat([this.#bytes.subarray(this.#at), chunk]) : chunk;
    this.#at = 0;
  }

  /** Reads the head of the next request. @returns `MORE` or `REFUSED`, or a positive number when it is complete. */
  readHead(): number {
    const end = this.head.read(this.#bytes, this.#at);
    if (end < 0) {
      this.clear();
      return end;
    }
    this.#take(end);
    const { bodyLength } = this.head;
    this.#body = bodyLength === 0 ? NO_BODY : new Body(bodyLength);
    this.client = this.#clients.of(this.head);
    return end;
  }

  /** Reads what of the body has come. @returns undefined when that is not valid. */
  readBody(): Buffer | undefined {
    const bytes = this.#bytes;
    const at = this.#at;
    const end = this.#body.take(bytes, at);
    if (end === INVALID) return undefined;
    this.#take(end);
    this.#counter.addEndpointReceived(end - at);
    return this.#body.relayed(bytes, at, end);
  }

  readFirst(): Buffer | undefined {
    if (this.isComplete || !this.isReadable || this.unread > JOIN_MAX) return NOTHING;
    return this.readBody();
  }

  /** All that was not read. */
  readRest(): Buffer {
    const rest = this.#bytes.subarray(this.#at);
    this.clear();
    return rest;
  }

  clear(): void {
    this.#bytes = NOTHING;
    this.#at = 0;
  }

  /** All before the index was read; the last byte lets go of the memory. */
  #take(end: number): void {
    if (end >= this.#bytes.length) this.clear();
    else this.#at = end;
  }
}
