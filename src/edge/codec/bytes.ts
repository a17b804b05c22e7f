// What single bytes may be in HTTP/1 (RFC 9110 §5.6.2, RFC 9112), and comparisons of ranges of them. Heads are never
// turned into strings where bytes do: most of them are only looked at to be sent on.

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const COLON = 0x3a;

/** Methods, protocols, connection options: a token. */
export const TOKEN = 1;
/** Names of request fields: a token without `_`, which some servers take for `-`; a name with one is looked at twice. */
export const NAME = 2;
/** Values of fields: visible characters, blanks and the upper half. */
export const VALUE = 4;
/** Targets of requests: visible ASCII without `#`, as a fragment is never sent. */
export const TARGET = 8;
/** Names of hosts: letters, digits, `-`, `.`, and `_`, which no host's name has by the rules and many have in fact. */
export const HOST = 16;

/** Which of the classes above a byte is in. */
export const classOf = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]$/.test(char);
  const isVisible = byte > SPACE && byte < 0x7f;
  return (
    (isToken ? TOKEN : 0) |
    (isToken && char !== '_' ? NAME : 0) |
    (isVisible || byte === SPACE || byte === TAB || byte >= 0x80 ? VALUE : 0) |
    (isVisible && char !== '#' ? TARGET : 0) |
    (/^[-._0-9A-Za-z]$/.test(char) ? HOST : 0)
  );
});

/** Whether the range is `word`, which is in lower case and has letters, digits and hyphens only; case does not matter. */
export function isWord(bytes: Buffer, start: number, end: number, word: string): boolean {
  return end - start === word.length && startsWithWord(bytes, start, end, word);
}

/** Whether the range begins with `word`, as `isWord` compares. */
export function startsWithWord(bytes: Buffer, start: number, end: number, word: string): boolean {
  if (end - start < word.length) return false;
  for (let i = 0; i < word.length; i++) {
    const byte = bytes[start + i] as number;
    // Of all bytes that a name may have, setting this bit changes upper-case letters only.
    if ((byte | 0x20) !== word.charCodeAt(i)) return false;
  }
  return true;
}

/** The bytes from one index to another; the whole chunk is given back as it is. */
export function pieceOf(chunk: Buffer, start: number, end: number): Buffer {
  return start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end);
}

/** Whether two ranges hold the same bytes. */
export function isSame(a: Buffer, start: number, end: number, b: Buffer): boolean {
  if (end - start !== b.length) return false;
  for (let i = 0; i < b.length; i++) if (a[start + i] !== b[i]) return false;
  return true;
}

/** A number of 1 to `maxDigits` (at most 15) decimal digits and nothing else; -1 otherwise. */
export function decimal(bytes: Buffer, start: number, end: number, maxDigits: number): number {
  if (end === start || end - start > maxDigits) return -1;
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = (bytes[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
