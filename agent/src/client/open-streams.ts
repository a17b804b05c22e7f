// The open streams of a tunnel's visitors.

import { ErrorCode, type MuxStream } from '@gateway/protocol';
import { waitAtMost } from './wait-at-most.ts';

/** The open streams of one tunnel. */
export class OpenStreams {
  readonly #streams = new Set<MuxStream>();
  /** Called when the last stream is closed. */
  #onEmpty: () => void = () => {};

  add(stream: MuxStream): void {
    this.#streams.add(stream);
  }

  delete(stream: MuxStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.#onEmpty();
  }

  /** Resolves when all streams are closed. @param grace the milliseconds after which the remaining ones are reset. */
  async drain(grace: number): Promise<void> {
    const isEmpty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    if (this.#streams.size > 0) await waitAtMost(grace, isEmpty);
    this.resetAll();
  }

  /** Resets all streams: a visitor could otherwise keep them open for ever. */
  resetAll(): void {
    for (const stream of [...this.#streams]) {
      stream.reset(ErrorCode.REMOTE_GONE_AWAY); // The gateway responds that the tunnel is offline.
      stream.events.onReset(ErrorCode.CANCELLED); // A stream emits no event for a reset of its own side.
    }
  }
}
