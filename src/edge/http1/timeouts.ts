// How long a visitor's connection may wait, for each of the things that it waits for.

import type { Socket } from 'node:net';
import { Deadline } from '../pipeline/deadline.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';

/** How long a visitor may take to close after the last answer; milliseconds. */
const LINGER_MS = 2000;

export class ConnectionTimeouts {
  readonly #socket: Socket;
  readonly #front: ListenerContext;
  readonly #deadline = new Deadline();

  constructor(socket: Socket, front: ListenerContext) {
    this.#socket = socket;
    this.#front = front;
    this.forHead(front.now());
  }

  /** A head has begun, or the connection. */
  forHead(now: number): void {
    this.#deadline.in(now, this.#front.settings.headTimeout);
  }

  /** Nothing of the next request has come. */
  forRequest(now: number): void {
    this.#deadline.in(now, this.#front.settings.idleTimeout);
    if (this.#socket.timeout) this.#socket.setTimeout(0);
  }

  /** The upstream has the request, or is being looked for. */
  forAnswer(now: number): void {
    this.#deadline.in(now, this.#front.settings.upstreamTimeout);
  }

  /** A request or an answer is under way, or what is left of one. */
  forProgress(now: number): void {
    this.#deadline.withoutProgress(now, this.#front.settings.stallTimeout);
  }

  /** The last answer is sent. */
  forClose(now: number): void {
    this.#deadline.in(now, LINGER_MS);
  }

  /** Bytes went in or out. */
  progress(): void {
    this.#deadline.progress();
  }

  /**
   * Whether it is over. While the visitor has bytes to read it is the socket that says so, by its event `timeout`: of one
   * large write they go out little by little, and nothing else sees that.
   */
  isOver(now: number): boolean {
    if (!this.#deadline.isDue(now)) return false;
    if (this.#socket.writableLength === 0) return true;
    this.#deadline.in(now, Number.POSITIVE_INFINITY);
    this.#socket.setTimeout(this.#front.settings.stallTimeout);
    return false;
  }
}
