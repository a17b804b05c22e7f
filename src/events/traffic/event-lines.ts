// Events that are collected as lines in one buffer. The buffers of whole batches are used again: to allocate 256 KiB for each batch took
// several times as long as to write its events, and each allocation counts towards the next garbage collection.

const KB = 1024;
/** What a pooled buffer holds: a batch, and the event with which it became one. */
const POOLED_BYTES = 320 * KB;
/** What needs more than this gets one of them. */
const POOLED_FROM = 64 * KB;
/** How many are kept for the next batches. */
const POOLED_MAX = 8;
/** The first buffer of a destination, which may get one event in a second. Each further one is four times as large, up to those of the pool. */
const LEAST_BYTES = 2 * KB;
const NEWLINE = 0x0a;

/** Buffers of full batches that are no longer in use. */
export class LineBuffers {
  readonly #free: Buffer[] = [];

  /** A buffer of at least so many bytes, with any content. */
  take(bytes: number): Buffer {
    if (bytes > POOLED_BYTES) return Buffer.allocUnsafeSlow(bytes);
    if (bytes <= POOLED_FROM) return Buffer.allocUnsafeSlow(bytes);
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(POOLED_BYTES);
  }

  /** Takes a buffer back that nobody reads any more. */
  give(buffer: Buffer): void {
    if (buffer.length === POOLED_BYTES && this.#free.length < POOLED_MAX) this.#free.push(buffer);
  }
}

export class EventLines {
  count = 0;
  /** Of all events together, without the line breaks between them. */
  bytes = 0;
  readonly #buffers: LineBuffers;
  #buffer: Buffer;
  #end = 0;

  /** @param buffers to take the memory from. @param bytes of the first event. */
  constructor(buffers: LineBuffers, bytes: number) {
    this.#buffers = buffers;
    this.#buffer = buffers.take(Math.max(LEAST_BYTES, bytes));
  }

  /** @param text of an event. @param bytes its length in UTF-8. */
  add(text: string, bytes: number): void {
    const end = this.#end === 0 ? bytes : this.#end + 1 + bytes;
    if (end > this.#buffer.length) this.#grow(end);
    if (this.#end > 0) this.#buffer[this.#end++] = NEWLINE;
    this.#buffer.write(text, this.#end, bytes === text.length ? 'latin1' : 'utf8');
    this.#end = end;
    this.count++;
    this.bytes += bytes;
  }

  /** The lines, without a line break at the end. */
  get lines(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  /** Gives the memory back. Nothing may be read of it, or added, afterwards. */
  release(): void {
    this.#buffers.give(this.#buffer);
    this.#buffer = Buffer.alloc(0);
  }

  #grow(end: number): void {
    const larger = this.#buffers.take(Math.max(end, this.#buffer.length * 4));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.release();
    this.#buffer = larger;
  }
}
