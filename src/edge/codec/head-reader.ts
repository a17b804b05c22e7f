// Collects a head, which may come in any pieces. One that comes whole is read where it lies and never copied.

import { CR, LF } from './bytes.ts';

/** The head is not complete yet. */
export const MORE = -1;
/** The head was refused. */
export const REFUSED = -2;

const EMPTY = Buffer.alloc(0);
const HELD_MIN = 1024;

/**
 * Reads heads one after the other. What a subclass finds are offsets into `bytes`, which are valid from the end of one
 * head until the next one is begun. Every line is parsed at most three times, in however many pieces it comes.
 */
export abstract class HeadReader {
  /** What the offsets point into. */
  bytes: Buffer = EMPTY;
  /** The first byte of the head. */
  start = 0;
  /** The first byte after the head. */
  end = 0;
  /** Where the field lines begin. */
  fieldsStart = 0;

  readonly #max: number;
  /** How long a first line may be that is not complete. */
  readonly #firstLineMax: number;
  /** Whether LF alone may end the head (RFC 9112 §2.2). */
  readonly #takesBareLf: boolean;
  /** Where the line begins that is to be parsed next. */
  #at = 0;
  #hasFirstLine = false;
  #held = 0;
  #searched = 0;

  constructor(max: number, firstLineMax: number, takesBareLf = false) {
    this.#max = max;
    this.#firstLineMax = firstLineMax;
    this.#takesBareLf = takesBareLf;
  }

  /** Whether a head has begun and is not complete. */
  get isPartial(): boolean {
    return this.#held > 0;
  }

  /** @returns the index in `chunk` of the first byte after the head, or `MORE` or `REFUSED`. */
  read(chunk: Buffer, from: number): number {
    if (this.#held > 0) return this.#readMore(chunk, from);
    this.#begin(chunk, from);
    const limit = Math.min(chunk.length, from + this.#max);
    const end = this.#parse(limit);
    if (end !== MORE) return end;
    if (limit - from === this.#max) return this.tooLarge();
    // The offsets found so far were those of the chunk: the copy is parsed from its beginning.
    this.#begin(EMPTY, 0);
    this.#hold(chunk, from, chunk.length);
    return MORE;
  }

  /** Lets go of the memory of a head that is not needed any more. */
  release(): void {
    this.bytes = EMPTY;
    this.#held = 0;
    this.#searched = 0;
  }

  /** Forgets the head before. */
  protected abstract begin(): void;
  /** Parses the first line, if it is there before `limit`. @returns where the next line begins, or `MORE` or `REFUSED`. */
  protected abstract firstLine(start: number, limit: number): number;
  /** Parses a field line, likewise. */
  protected abstract field(start: number, limit: number): number;
  /** Judges the head as a whole. @returns `end`, or `REFUSED`. */
  protected abstract finish(end: number): number;
  /** Refuses a head that reached its limit. */
  protected tooLarge(): typeof REFUSED {
    return REFUSED;
  }
  /** Refuses a head with a CR in a wrong place. */
  protected malformed(): typeof REFUSED {
    return REFUSED;
  }

  /** Reads another writing of the same head in its place, from within `finish`. @returns false when it was refused. */
  protected readInstead(head: Buffer): boolean {
    this.#begin(head, 0);
    return this.#parse(head.length) === head.length;
  }

  #begin(bytes: Buffer, start: number): void {
    this.bytes = bytes;
    this.start = start;
    this.#at = start;
    this.#hasFirstLine = false;
    this.begin();
  }

  #parse(limit: number): number {
    if (!this.#hasFirstLine) {
      const next = this.firstLine(this.#at, limit);
      if (next < 0) return next;
      this.fieldsStart = next;
      this.#at = next;
      this.#hasFirstLine = true;
    }
    const { bytes } = this;
    for (;;) {
      const at = this.#at;
      if (at >= limit) return MORE;
      if (bytes[at] === CR) {
        if (at + 1 >= limit) return MORE;
        if (bytes[at + 1] !== LF) return this.malformed();
        this.end = at + 2;
        return this.finish(at + 2);
      }
      if (bytes[at] === LF && this.#takesBareLf) {
        this.end = at + 1;
        return this.finish(at + 1);
      }
      const next = this.field(at, limit);
      if (next < 0) return next;
      this.#at = next;
    }
  }

  #readMore(chunk: Buffer, from: number): number {
    const before = this.#held;
    this.#hold(chunk, from, Math.min(chunk.length, from + this.#max - before));
    const end = this.#isWorthParsing() ? this.#parse(this.#held) : MORE;
    if (end === MORE) return this.#held === this.#max ? this.tooLarge() : MORE;
    this.#held = 0;
    this.#searched = 0;
    return end === REFUSED ? REFUSED : from + end - before;
  }

  #isWorthParsing(): boolean {
    const hasLine = this.bytes.indexOf(LF, Math.max(this.#searched, this.#at)) >= 0;
    this.#searched = this.#held;
    return hasLine || (!this.#hasFirstLine && this.#held > this.#firstLineMax);
  }

  #hold(chunk: Buffer, from: number, to: number): void {
    const held = this.#held + to - from;
    if (held > this.bytes.length) {
      const larger = Buffer.alloc(Math.max(HELD_MIN, Math.min(this.#max, 2 * held)));
      this.bytes.copy(larger, 0, 0, this.#held);
      this.bytes = larger;
    }
    chunk.copy(this.bytes, this.#held, from, to);
    this.#held = held;
  }
}
