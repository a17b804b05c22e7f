// How long a request of HTTP/2 may wait, for each of the things that it waits for.

import { Deadline } from '../http/deadline.ts';
import type { Front } from '../http/front.ts';

/** The connection that the request came on. */
interface Session {
  readonly front: Front;
  /** Differs from what it was before when the visitor has taken bytes meanwhile. */
  progress(): unknown;
}

export class StreamPatience {
  readonly #session: Session;
  readonly #deadline = new Deadline();
  /** How far the connection was when it was looked at last. */
  #mark: unknown;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The upstream has the request, or is being looked for. */
  forAnswer(): void {
    const { front } = this.#session;
    this.#deadline.in(front.now(), front.settings.upstreamTimeout);
  }

  /** A request or an answer is under way, or what is left of one. */
  forProgress(): void {
    const { front } = this.#session;
    this.#deadline.withoutProgress(front.now(), front.settings.stallTimeout);
  }

  /** Bytes went in or out. */
  progress(): void {
    this.#deadline.progress();
  }

  isOver(now: number): boolean {
    return this.#deadline.isDue(now);
  }

  /** Whether the visitor has taken nothing at all since it was asked last; otherwise it has more time. */
  isStuck(): boolean {
    const mark = this.#session.progress();
    if (mark === this.#mark) return true;
    this.#mark = mark;
    this.forProgress();
    return false;
  }
}
