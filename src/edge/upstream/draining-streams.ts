// How streams to upstreams end.

import { cancelStream, noopStreamEvents } from '../../protocol/mux/mux-stream.ts';
import type { ByteStream } from '../../protocol/mux/stream.ts';

/** How long a stream that was ended may take to end on its other side. */
const DRAIN_MS = 2000;

/** Streams that were ended on our side, of all visitors. */
export class DrainingStreams {
  readonly #streams = new Map<ByteStream, number>();

  get size(): number {
    return this.#streams.size;
  }

  /** Ends a stream; one that does not end on its other side is reset after a while. */
  add(stream: ByteStream, now: number): void {
    const forget = () => void this.#streams.delete(stream);
    stream.events = {
      ...noopStreamEvents,
      onData: (chunk) => stream.consumed(chunk.length),
      onEnd: forget,
      onReset: forget,
    };
    this.#streams.set(stream, now + DRAIN_MS);
    stream.end();
  }

  sweep(now: number): void {
    for (const [stream, until] of this.#streams) {
      if (until > now) return; // The others came later.
      this.#streams.delete(stream);
      cancelStream(stream);
    }
  }
}
