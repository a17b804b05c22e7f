// How long a visitor's connection, or a request on it, may wait for each of the things that it waits for.

import { Deadline } from './deadline.ts';
import type { ListenerContext } from './listener-context.ts';

/** How long a visitor may take to close after the last response; milliseconds. */
const LINGER_MS = 2000;

export class VisitorTimeouts extends Deadline {
  readonly #listener: ListenerContext;

  constructor(listener: ListenerContext) {
    super();
    this.#listener = listener;
  }

  /** A head has begun, or the connection. */
  forHead(now: number): void {
    this.in(now, this.#listener.settings.headTimeout);
  }

  /** Nothing of the next request has come. */
  forRequest(now: number): void {
    this.in(now, this.#listener.settings.idleTimeout);
  }

  /** The upstream has the request, or is being looked for. */
  forResponse(now: number): void {
    this.in(now, this.#listener.settings.upstreamTimeout);
  }

  /** A request or a response is under way, or what is left of one. */
  forProgress(now: number): void {
    this.withoutProgress(now, this.#listener.settings.stallTimeout);
  }

  /** The last response is sent. */
  forClose(now: number): void {
    this.in(now, LINGER_MS);
  }
}
