// One JSON object out of a stream that says neither how long it is nor when it ends.

/** Bytes a message may have: a traffic policy and every option besides. */
export const MESSAGE_MAX = 1024 * 1024;

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\{}[]');
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A message that is not one, or is too long; the text says why. */
export class MessageError extends Error {}

/** Finds the end of an object by its braces, and parses it once: a callee must not wait for a FIN that never comes. */
export class JsonReader {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;

  /**
   * @returns the object, once it is complete; undefined before. What follows it in `chunk` is ignored.
   * @throws {MessageError} when it is not a JSON object of at most `MESSAGE_MAX` bytes.
   */
  push(chunk: Buffer): object | undefined {
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i];
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inText = false;
      } else if (this.#depth === 0 && byte !== OPEN) {
        if (!isBlank(byte)) throw new MessageError('a message must be a JSON object');
      } else if (byte === QUOTE) this.#inText = true;
      else if (byte === OPEN || byte === OPEN_LIST) this.#depth++;
      else if ((byte === CLOSE || byte === CLOSE_LIST) && --this.#depth === 0)
        return this.#parse(chunk.subarray(0, i + 1));
    }
    this.#keep(chunk);
    return undefined;
  }

  #parse(last: Buffer): object {
    this.#keep(last);
    try {
      return JSON.parse(Buffer.concat(this.#chunks).toString('utf8')) as object;
    } catch {
      throw new MessageError('a message must be valid JSON');
    }
  }

  #keep(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MESSAGE_MAX) throw new MessageError(`a message must be at most ${MESSAGE_MAX} bytes`);
    this.#chunks.push(chunk);
  }
}
