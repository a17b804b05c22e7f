// The fields of a head that has been parsed already, for whoever needs more of them than the parser kept.

import { COLON, LF, SPACE, startsWithWord, TAB } from './bytes.ts';

/**
 * Calls `visit` for every field line between `start`, where the first of them begins, and `end`, after the empty line.
 * @param visit is told where a line begins, where its name ends, and where the next line begins.
 */
export function forEachField(
  bytes: Buffer,
  start: number,
  end: number,
  visit: (lineStart: number, nameEnd: number, lineEnd: number) => void,
): void {
  for (let at = start; at < end - 2; ) {
    const lineEnd = bytes.indexOf(LF, at) + 1;
    visit(at, bytes.indexOf(COLON, at), lineEnd);
    at = lineEnd;
  }
}

/** All fields as they were sent, in order: name and value, the latter without the blanks around it, in Latin-1. */
export function fieldsOf(bytes: Buffer, start: number, end: number): [name: string, value: string][] {
  const fields: [string, string][] = [];
  forEachField(bytes, start, end, (lineStart, nameEnd, lineEnd) => {
    const from = trimStart(bytes, nameEnd + 1, lineEnd - 2);
    fields.push([
      bytes.toString('latin1', lineStart, nameEnd),
      bytes.toString('latin1', from, trimEnd(bytes, from, lineEnd - 2)),
    ]);
  });
  return fields;
}

/** The fields of a head but those of the hop, which do not go on. @param but the name of one more to leave out, in lower case. */
export function endToEndFields(
  head: { bytes: Buffer; fieldsStart: number; end: number; drops: readonly number[] },
  but: string,
): [name: string, value: string][] {
  const { bytes, drops } = head;
  const fields: [string, string][] = [];
  forEachField(bytes, head.fieldsStart, head.end, (lineStart, nameEnd, lineEnd) => {
    for (let i = 0; i < drops.length; i += 2) if (drops[i] === lineStart) return;
    const name = bytes.toString('latin1', lineStart, nameEnd);
    if (name.length === but.length && name.toLowerCase() === but) return;
    const from = trimStart(bytes, nameEnd + 1, lineEnd - 2);
    fields.push([name, bytes.toString('latin1', from, trimEnd(bytes, from, lineEnd - 2))]);
  });
  return fields;
}

/**
 * Adds to `drops` the lines of fields that the Connection header lists: such a line may come before the one that lists
 * it, and lines are dropped in order.
 * @param names in lower case.
 */
export function dropListed(bytes: Buffer, start: number, end: number, names: readonly string[], drops: number[]): void {
  // Only where lines begin: where one that is dropped ends, another one begins.
  const known = new Set(drops.filter((_, i) => i % 2 === 0));
  drops.length = 0;
  forEachField(bytes, start, end, (lineStart, nameEnd, lineEnd) => {
    if (known.has(lineStart) || names.includes(bytes.toString('latin1', lineStart, nameEnd).toLowerCase()))
      drops.push(lineStart, lineEnd);
  });
}

/** Whether the value of an Authorization field proves who sends it to the whole connection: NTLM, Negotiate (RFC 4559, section 6). */
export function isOfConnection(bytes: Buffer, start: number, end: number): boolean {
  const from = trimStart(bytes, start, end);
  return startsWithWord(bytes, from, end, 'ntlm') || startsWithWord(bytes, from, end, 'negotiate');
}

/** The first byte of the range that is no blank, or its end. */
export function trimStart(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  return at;
}

/** The end of the range without the blanks before it. */
export function trimEnd(bytes: Buffer, start: number, end: number): number {
  let at = end;
  while (at > start && (bytes[at - 1] === SPACE || bytes[at - 1] === TAB)) at--;
  return at;
}
