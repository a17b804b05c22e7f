// One JSON object out of a stream that says neither how long it is nor when it ends.

import { isUtf8 } from 'node:buffer';
import type { ByteBudget } from '../byte-budget.ts';

/** Bytes a message may have: a traffic policy and every option besides. */
export const MESSAGE_MAX = 1024 * 1024;
/** How deep it may be nested. Policies are texts inside it, so that a few levels are all it needs. */
const DEPTH_MAX = 64;
/** What most messages fit into; bytes. */
const FIRST_CAPACITY = 1024;

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\{}[]');
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A message that is not one, or is too long; the text says why. */
export class MessageError extends Error {}

/** Finds the end of an object by its braces, and parses it once: a callee must not wait for a FIN that never comes. */
export class JsonReader {
  readonly #budget: ByteBudget | undefined;
  /** One piece for all of it: a list of the pieces that came would cost a hundred times as much, were they of a byte each. */
  #buffer = EMPTY;
  #bytes = 0;
  /** What was taken of the budget. */
  #taken = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;

  /** @param budget what the message is part of while it is read, and until `release`. */
  constructor(budget?: ByteBudget) {
    this.#budget = budget;
  }

  /**
   * @returns the object, once it is complete; undefined before. What follows it in `chunk` is ignored.
   * @throws {MessageError} when it is not a JSON object of at most `MESSAGE_MAX` bytes, or there is no room for it.
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
      else if (byte === OPEN || byte === OPEN_LIST) this.#deeper();
      else if ((byte === CLOSE || byte === CLOSE_LIST) && --this.#depth === 0) {
        this.#keep(chunk.subarray(0, i + 1));
        return this.#parse();
      }
    }
    this.#keep(chunk);
    return undefined;
  }

  /** Gives back what it has taken of the budget: nothing of the message is kept any more. May be called twice. */
  release(): void {
    this.#budget?.give(this.#taken);
    this.#taken = 0;
    this.#buffer = EMPTY;
  }

  #deeper(): void {
    if (++this.#depth > DEPTH_MAX) throw new MessageError(`a message must be nested at most ${DEPTH_MAX} deep`);
  }

  #parse(): object {
    const bytes = this.#buffer.subarray(0, this.#bytes);
    this.#buffer = EMPTY;
    // Each bad byte would be a character of three bytes in what is answered.
    if (!isUtf8(bytes)) throw new MessageError('a message must be UTF-8');
    try {
      return JSON.parse(bytes.toString('utf8')) as object;
    } catch {
      throw new MessageError('a message must be valid JSON');
    }
  }

  #keep(chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length;
    if (bytes > MESSAGE_MAX) throw new MessageError(`a message must be at most ${MESSAGE_MAX} bytes`);
    if (bytes > this.#buffer.length) this.#grow(bytes);
    chunk.copy(this.#buffer, this.#bytes);
    this.#bytes = bytes;
  }

  #grow(least: number): void {
    let capacity = Math.max(this.#buffer.length, FIRST_CAPACITY);
    while (capacity < least) capacity *= 2;
    const budget = this.#budget;
    if (budget && !budget.take(capacity - this.#taken))
      throw new MessageError(`the calls under way must have at most ${budget.max} bytes together; wait for answers`);
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#taken = capacity;
    this.#buffer.copy(grown, 0, 0, this.#bytes);
    this.#buffer = grown;
  }
}

const EMPTY = Buffer.alloc(0);

/** What V8 quotes of the text behind its finding. */
const QUOTED_SOURCE = /,? ?(?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s;

/** Why JSON.parse has refused a text, without a piece of it: that may be a secret. */
export function describeJsonError(error: unknown): string {
  return (error as Error).message.replace(QUOTED_SOURCE, '') || 'it is not valid JSON';
}
