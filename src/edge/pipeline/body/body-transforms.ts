// Sends a body through what changes it, one piece after the other.

import type { BodyTransform } from '../../../http/body-transform.ts';

export interface BodyTransformsEvents {
  /** Bytes of the changed body. */
  onData(data: Buffer): void;
  /** All is told. */
  onEnd(): void;
  /** So many bytes that were written have been dealt with; what came of them was told before. */
  onTaken(bytes: number): void;
  /** It cannot go on; nothing follows. */
  onError(reason: string): void;
}

/**
 * One body. Whoever writes is held back by `onTaken`: what was not taken is kept here as it is. No event follows `destroy`,
 * and none comes before the call that causes it has returned.
 */
export class BodyTransforms {
  readonly #transforms: readonly BodyTransform[];
  readonly #events: BodyTransformsEvents;
  #waiting: Buffer[] = [];
  #isBusy = false;
  #hasEnded = false;
  #isOver = false;

  /** @param transforms in the order in which the body passes them. */
  constructor(transforms: readonly BodyTransform[], events: BodyTransformsEvents) {
    this.#transforms = transforms;
    this.#events = events;
  }

  /** Takes all of `piece`, which must not be changed afterwards. */
  write(piece: Buffer): void {
    if (this.#isOver || piece.length === 0) return;
    this.#waiting.push(piece);
    void this.#work();
  }

  /** No more will be written. */
  end(): void {
    this.#hasEnded = true;
    void this.#work();
  }

  /** Gives up. */
  destroy(): void {
    this.#isOver = true;
    this.#waiting = [];
    for (const transform of this.#transforms) transform.destroy();
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (!this.#isOver) {
        const piece = this.#waiting.shift();
        if (piece) this.#told(await this.#through(piece, 0), piece.length);
        else if (this.#hasEnded) this.#finish(await this.#rest());
        else break;
      }
    } catch (error) {
      if (this.#isOver) return;
      this.destroy();
      this.#events.onError((error as Error).message);
    } finally {
      this.#isBusy = false;
    }
  }

  #told(data: Buffer, taken: number): void {
    if (this.#isOver) return;
    if (data.length > 0) this.#events.onData(data);
    this.#events.onTaken(taken);
  }

  #finish(rest: Buffer): void {
    if (this.#isOver) return;
    if (rest.length > 0) this.#events.onData(rest);
    this.destroy();
    this.#events.onEnd();
  }

  /** @param from the first transform that it passes. */
  async #through(piece: Buffer, from: number): Promise<Buffer> {
    let data = piece;
    for (const transform of this.#transforms.slice(from)) if (data.length > 0) data = await transform.take(data);
    return data;
  }

  /** What the transforms have held back: what the first one gives passes the others, and so on. */
  async #rest(): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (const [at, transform] of this.#transforms.entries())
      parts.push(await this.#through(await transform.end(), at + 1));
    return Buffer.concat(parts);
  }
}
