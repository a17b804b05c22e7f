// A message as it is written: names that it has already are not repeated, but pointed to (RFC 1035 section 4.1.4).

import { encodeLabel, suffixesOf } from './name.ts';
import { MESSAGE_HEADER_BYTES, type Query } from './query.ts';
import { CLASS_IN, type ResourceRecord } from './records.ts';

/** A pointer has room for no more. */
const POINTER_OFFSET_MAX = 0x3fff;

/** A message that grows: room for the header, the question, and records whose names point to earlier ones. */
export class MessageWriter {
  readonly #chunks: Buffer[] = [];
  /** Where a name can be found that was written already. */
  readonly #names = new Map<string, number>();
  length = 0;

  constructor({ question }: Query) {
    this.add(Buffer.alloc(MESSAGE_HEADER_BYTES));
    if (!question) return;
    this.#remember(question.name);
    this.add(question.bytes);
  }

  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.length += bytes.length;
  }

  write({ name, type, ttl, data }: ResourceRecord): void {
    this.#writeName(name);
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(type, 0);
    fixed.writeUInt16BE(CLASS_IN, 2);
    fixed.writeUInt32BE(ttl, 4);
    this.add(fixed);
    const start = this.length;
    for (const part of data) {
      if (typeof part === 'string') this.#writeName(part);
      else this.add(part);
    }
    // One that is too long makes the message too long, so that it is never sent.
    fixed.writeUInt16BE((this.length - start) & 0xffff, 8);
  }

  /** @returns whether it did. When not, nothing may be written with a name any more. */
  writeIfFits(record: ResourceRecord, maxBytes: number): boolean {
    const { length } = this;
    const chunks = this.#chunks.length;
    this.write(record);
    if (this.length <= maxBytes) return true;
    this.#chunks.length = chunks;
    this.length = length;
    return false;
  }

  join(): Buffer {
    return Buffer.concat(this.#chunks, this.length);
  }

  #writeName(name: string): void {
    for (const rest of suffixesOf(name)) {
      const known = this.#names.get(rest);
      if (known !== undefined) return void this.add(Buffer.of(0xc0 | (known >> 8), known & 0xff));
      if (this.length <= POINTER_OFFSET_MAX) this.#names.set(rest, this.length);
      this.add(encodeLabel(rest.split('.', 1)[0] as string));
    }
    this.add(Buffer.of(0));
  }

  /** The labels of a name that is about to be written as it came. */
  #remember(name: string): void {
    let at = this.length;
    for (const rest of suffixesOf(name)) {
      this.#names.set(rest, at);
      at += encodeLabel(rest.split('.', 1)[0] as string).length;
    }
  }
}
