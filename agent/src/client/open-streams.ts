// The visitors of a tunnel that are under way.

import { ErrorCode, type MuxStream } from '@gateway/protocol';
import { waitAtMost } from './wait-at-most.ts';

export class OpenStreams {
  readonly #streams = new Set<MuxStream>();
  /** Told when the last one has gone. */
  #onEmpty: () => void = () => {};

  add(stream: MuxStream): void {
    this.#streams.add(stream);
  }

  delete(stream: MuxStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.#onEmpty();
  }

  /** Resolves when all have gone. @param grace milliseconds after which those that are left are cut. */
  async drain(grace: number): Promise<void> {
    const isEmpty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    if (this.#streams.size > 0) await waitAtMost(grace, isEmpty);
    this.resetAll();
  }

  /** Resets all: they would otherwise go on for as long as a visitor likes. */
  resetAll(): void {
    for (const stream of [...this.#streams]) {
      stream.reset(ErrorCode.REMOTE_GONE_AWAY); // The gateway tells visitors that the tunnel is offline.
      stream.events.onReset(ErrorCode.CANCELLED); // Whoever resets a stream is told of it by nobody else.
    }
  }
}
