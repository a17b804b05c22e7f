// Whether the text of a WebSocket's message is UTF-8 (RFC 6455, section 8.1), in whatever pieces it comes.

import { isUtf8 } from 'node:buffer';

const NOTHING = Buffer.alloc(0);
/** Bytes of the longest character, but one. */
const PART_MAX = 3;

export class Utf8Check {
  /** The beginning of a character that was cut in two. */
  #part: Buffer = NOTHING;

  /** A message begins. */
  begin(): void {
    this.#part = NOTHING;
  }

  /** Whether what has come so far may be text. The bytes are not kept, and may change afterwards. */
  take(bytes: Buffer): boolean {
    const all = this.#part.length > 0 ? Buffer.concat([this.#part, bytes]) : bytes;
    const end = all.length - partLength(all);
    this.#part = end < all.length ? Buffer.from(all.subarray(end)) : NOTHING;
    return isUtf8(end < all.length ? all.subarray(0, end) : all);
  }

  /** Whether the message ends with a whole character. */
  end(): boolean {
    return this.#part.length === 0;
  }
}

/** How many bytes at the end are the beginning of a character; 0 where it is complete, or none. */
function partLength(bytes: Buffer): number {
  for (let length = 1; length <= Math.min(PART_MAX, bytes.length); length++) {
    const byte = bytes[bytes.length - length] as number;
    if ((byte & 0xc0) === 0x80) continue;
    return wholeLength(byte) > length ? length : 0;
  }
  return 0;
}

/** How long the character is that a byte begins (RFC 3629, section 4); 1 where it begins none. */
function wholeLength(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 1;
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}
