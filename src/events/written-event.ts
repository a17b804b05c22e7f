// An event as it is stored, among others in one buffer. Its members are read when they are asked for: a target that takes lines as
// they are needs none of them, and thousands of texts a second would be work for the garbage collector.

const BEFORE_ID = Buffer.from('{"event_id":"');
const BEFORE_TYPE = Buffer.from('","event_type":"');
const BEFORE_TIME = Buffer.from('","event_timestamp":"');
const QUOTE = 0x22;
/** The longest id and the longest name of a type that are looked for, in bytes. */
const WORD_MAX = 200;

export class WrittenEvent {
  /** What it is stored in; the event is a part of it. */
  readonly lines: Buffer;
  readonly start: number;
  readonly end: number;
  readonly #idEnd: number;
  readonly #typeEnd: number;
  #text: string | undefined;

  private constructor(lines: Buffer, start: number, end: number, idEnd: number, typeEnd: number) {
    this.lines = lines;
    this.start = start;
    this.end = end;
    this.#idEnd = idEnd;
    this.#typeEnd = typeEnd;
  }

  /** The event in a part of a buffer, which is not to be changed from then on; undefined when `writeEvent` did not write it. */
  static read(lines: Buffer, start: number, end: number): WrittenEvent | undefined {
    const idEnd = wordEnd(lines, BEFORE_ID, start, end);
    const typeEnd = idEnd < 0 ? -1 : wordEnd(lines, BEFORE_TYPE, idEnd, end);
    if (typeEnd < 0 || wordEnd(lines, BEFORE_TIME, typeEnd, end) < 0) return undefined;
    return new WrittenEvent(lines, start, end, idEnd, typeEnd);
  }

  get id(): string {
    return this.lines.toString('latin1', this.start + BEFORE_ID.length, this.#idEnd);
  }

  get type(): string {
    return this.lines.toString('latin1', this.#idEnd + BEFORE_TYPE.length, this.#typeEnd);
  }

  /** In milliseconds, of whole seconds. */
  get at(): number {
    const from = this.#typeEnd + BEFORE_TIME.length;
    return Date.parse(this.lines.toString('latin1', from, this.lines.indexOf(QUOTE, from)));
  }

  /** JSON without a line break. */
  get text(): string {
    this.#text ??= this.lines.toString('utf8', this.start, this.end);
    return this.#text;
  }

  /** The text in UTF-8. */
  get bytes(): Buffer {
    return this.lines.subarray(this.start, this.end);
  }

  /** The length of `bytes`. */
  get size(): number {
    return this.end - this.start;
  }
}

/** Where the quoted word ends that begins behind `before`; -1 when there is none. */
function wordEnd(lines: Buffer, before: Buffer, start: number, end: number): number {
  const from = start + before.length;
  if (from >= end) return -1;
  for (let i = 0; i < before.length; i++) if (lines[start + i] !== before[i]) return -1;
  const most = Math.min(end, from + WORD_MAX);
  for (let i = from; i < most; i++) if (lines[i] === QUOTE) return i > from ? i : -1;
  return -1;
}
