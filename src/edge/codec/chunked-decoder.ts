// The data of a chunked body, without its chunks. What comes here was found well formed before.

const LF = 0x0a;

export class ChunkedDecoder {
  /** Bytes of the chunk still to come; its line end counts as two. */
  #data = 0;
  #lineEnd = 0;
  #size = 0;
  #isLast = false;
  #trailer: Buffer[] = [];

  /** The lines of the trailer with the empty one at their end, once the body is complete. */
  get trailer(): Buffer {
    return Buffer.concat(this.#trailer);
  }

  /** Takes a piece of the body. @param onData is given its data. */
  take(bytes: Buffer, start: number, end: number, onData: (data: Buffer) => void): void {
    let at = start;
    while (at < end) {
      if (this.#isLast) {
        this.#trailer.push(bytes.subarray(at, end));
        return;
      }
      if (this.#data > 0) {
        const next = Math.min(end, at + this.#data);
        this.#data -= next - at;
        onData(bytes.subarray(at, next));
        at = next;
      } else if (this.#lineEnd > 0) {
        this.#lineEnd--;
        at++;
      } else this.#takeSize(bytes[at++] as number);
    }
  }

  #takeSize(byte: number): void {
    if (byte === LF) {
      this.#isLast = this.#size === 0;
      this.#data = this.#size;
      this.#lineEnd = 2;
      this.#size = 0;
    } else if (byte >= 0x30) this.#size = this.#size * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
}
