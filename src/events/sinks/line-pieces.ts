// Events as lines in the buffers that they were stored in, without a copy.

import type { WrittenEvent } from '../written-event.ts';

const NEWLINE = Buffer.from('\n');

/** The bytes of events, each with a line break behind it. Events that follow each other in one buffer are one piece. */
export function piecesOf(events: readonly WrittenEvent[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let i = 0; i < events.length; ) {
    const { lines, start } = events[i] as WrittenEvent;
    let { end } = events[i] as WrittenEvent;
    for (i++; events[i]?.lines === lines && events[i]?.start === end + 1; i++) end = (events[i] as WrittenEvent).end;
    if (lines[end] === NEWLINE[0]) pieces.push(lines.subarray(start, end + 1));
    else pieces.push(lines.subarray(start, end), NEWLINE);
  }
  return pieces;
}

/** What is left of pieces behind their first bytes. */
export function piecesFrom(pieces: readonly Buffer[], bytes: number): Buffer[] {
  const left: Buffer[] = [];
  let skipped = 0;
  for (const piece of pieces) {
    const from = Math.max(0, bytes - skipped);
    if (from < piece.length) left.push(piece.subarray(from));
    skipped += piece.length;
  }
  return left;
}
