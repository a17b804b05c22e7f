// The visits that other nodes have sent to this one and that are open.

import type { MuxStream } from '../protocol/mux/mux-stream.ts';

export class IncomingVisits {
  readonly #open = new Set<MuxStream>();
  #onClosed = () => {};

  /** Adds a visit until its stream is closed. */
  add(stream: MuxStream): void {
    this.#open.add(stream);
    stream.onClosed = () => {
      this.#open.delete(stream);
      this.#onClosed();
    };
  }

  get size(): number {
    return this.#open.size;
  }

  /** Waits until the visits that are open now have ended, at most for so many milliseconds. Later ones are not waited for. */
  async end(ms: number): Promise<void> {
    const waitedFor = [...this.#open];
    if (waitedFor.length === 0) return;
    await new Promise<void>((resolve) => {
      const deadline = setTimeout(resolve, ms);
      this.#onClosed = () => {
        if (waitedFor.some((stream) => this.#open.has(stream))) return;
        clearTimeout(deadline);
        resolve();
      };
    });
  }
}
