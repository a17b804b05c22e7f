// How long a visitor's connection, or a request on it, may wait for each of the things that it waits for.

import type { AnswerTimeout } from '../../http/exchange.ts';
import type { ListenerContext } from './listener-context.ts';

/** How long a visitor may take to close after the last response; milliseconds. */
const LINGER_MS = 2000;

/** One deadline at a time. It is compared with the clock several times a second, so that it costs nothing to move it. */
export class VisitorTimeouts {
  readonly #listener: ListenerContext;
  #at = Number.POSITIVE_INFINITY;
  /** How long there may be no progress, in milliseconds; 0 where progress does not matter. */
  #stallTimeout = 0;
  #hasProgress = false;
  /** What the endpoint of the request under way has instead of the gateway's own. */
  #answerTimeout: AnswerTimeout | undefined;

  constructor(listener: ListenerContext) {
    this.#listener = listener;
  }

  /** A head has begun, or the connection. */
  forHead(now: number): void {
    this.#in(now, this.#listener.settings.headTimeout);
  }

  /** Nothing of the next request has come. */
  forRequest(now: number): void {
    this.#in(now, this.#listener.settings.idleTimeout);
  }

  /** How long the answer to the request may take to begin; undefined: as everywhere. It holds from the next deadline on. */
  answerWithin(timeout: AnswerTimeout | undefined): void {
    this.#answerTimeout = timeout;
  }

  /** The upstream has the request, or is being looked for. */
  forResponse(now: number): void {
    this.#in(now, this.#answerMs);
  }

  /** Which limit an answer has that did not begin in time, for people. */
  get answerLimit(): string {
    const { ms, setBy } = this.#answerTimeout ?? { ms: this.#answerMs, setBy: 'the gateway' };
    const by = ms > this.#answerMs ? 'the gateway, the longest that it allows' : setBy;
    return `The limit is ${this.#answerMs / 1000} s, set by ${by}.`;
  }

  get #answerMs(): number {
    const { upstreamTimeout, upstreamTimeoutMax } = this.#listener.settings;
    const timeout = this.#answerTimeout;
    return timeout ? Math.min(timeout.ms, Math.max(upstreamTimeoutMax, upstreamTimeout)) : upstreamTimeout;
  }

  /** A request or a response is under way, or what is left of one: the deadline moves as long as there is progress. */
  forProgress(now: number): void {
    const { stallTimeout } = this.#listener.settings;
    this.#in(now, stallTimeout);
    this.#stallTimeout = stallTimeout;
    this.#hasProgress = false;
  }

  /** The last response is sent. */
  forClose(now: number): void {
    this.#in(now, LINGER_MS);
  }

  /** There is no deadline. */
  stop(): void {
    this.#in(0, Number.POSITIVE_INFINITY);
  }

  /** Bytes went in or out. */
  progress(): void {
    this.#hasProgress = true;
  }

  isDue(now: number): boolean {
    if (this.#hasProgress && this.#stallTimeout > 0) {
      this.#hasProgress = false;
      this.#at = now + this.#stallTimeout;
    }
    return now >= this.#at;
  }

  #in(now: number, ms: number): void {
    this.#at = now + ms;
    this.#stallTimeout = 0;
  }
}
