// Reads one JSON object from a stream that has neither a length nor a delimiter.

import { isUtf8 } from 'node:buffer';
import type { ByteBudget } from '../byte-budget.ts';

/** The most bytes of a message: those of a traffic policy and of all other options. */
export const MESSAGE_MAX = 1024 * 1024;
/** The largest nesting depth. Policies are strings in a message, so few levels are needed. */
const DEPTH_MAX = 64;
/** The first size of the buffer, in bytes, which most messages fit into. */
const INITIAL_CAPACITY = 1024;

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\{}[]');
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A message is malformed or too long; the error's message says why. */
export class MessageError extends Error {}

/**
 * Finds the end of an object by its braces and parses it once. It does not wait for the end of the stream, which callers
 * keep open.
 */
export class JsonReader {
  readonly #budget: ByteBudget | undefined;
  /** One buffer for the whole message: a list of chunks of one byte each would take a hundred times the memory. */
  #buffer = EMPTY;
  #bytes = 0;
  /** The bytes taken from the budget. */
  #taken = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;

  /** @param budget the budget that the buffer counts against until `release`. */
  constructor(budget?: ByteBudget) {
    this.#budget = budget;
  }

  /**
   * Reads the next bytes.
   * @returns the object when it is complete, otherwise undefined. Bytes after the object are ignored.
   * @throws {MessageError} when this is not a JSON object of at most `MESSAGE_MAX` bytes, or exceeds the budget.
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
      else if (byte === OPEN || byte === OPEN_LIST) this.#enterLevel();
      else if ((byte === CLOSE || byte === CLOSE_LIST) && --this.#depth === 0) {
        this.#append(chunk.subarray(0, i + 1));
        return this.#parse();
      }
    }
    this.#append(chunk);
    return undefined;
  }

  /** Frees the buffer and returns its bytes to the budget. It may be called twice. */
  release(): void {
    this.#budget?.give(this.#taken);
    this.#taken = 0;
    this.#buffer = EMPTY;
  }

  #enterLevel(): void {
    if (++this.#depth > DEPTH_MAX) throw new MessageError(`a message must be nested at most ${DEPTH_MAX} deep`);
  }

  #parse(): object {
    const bytes = this.#buffer.subarray(0, this.#bytes);
    this.#buffer = EMPTY;
    // Invalid bytes are refused: each would become a replacement character of three bytes in the response.
    if (!isUtf8(bytes)) throw new MessageError('a message must be UTF-8');
    try {
      return JSON.parse(bytes.toString('utf8')) as object;
    } catch {
      throw new MessageError('a message must be valid JSON');
    }
  }

  #append(chunk: Buffer): void {
    const bytes = this.#bytes + chunk.length;
    if (bytes > MESSAGE_MAX) throw new MessageError(`a message must be at most ${MESSAGE_MAX} bytes`);
    if (bytes > this.#buffer.length) this.#grow(bytes);
    chunk.copy(this.#buffer, this.#bytes);
    this.#bytes = bytes;
  }

  #grow(least: number): void {
    let capacity = Math.max(this.#buffer.length, INITIAL_CAPACITY);
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

/** The part of the text that V8 quotes at the end of its error message. */
const QUOTED_SOURCE = /,? ?(?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s;

/** The reason why JSON.parse refused a text, without the quoted part of the text, which may be secret. */
export function describeJsonError(error: unknown): string {
  return (error as Error).message.replace(QUOTED_SOURCE, '') || 'it is not valid JSON';
}
