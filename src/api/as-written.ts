// What clients sent comes back as they wrote it: tools that compare their plan with the answer would take any other form for a change.
// A column holds the normal form, by which values are compared and found, and another one what was written where that differs.

/** What to store beside the normal form; null where it is what was written. */
export function writtenBeside(normal: string, text: string): string | null {
  return text === normal ? null : text;
}

/**
 * What to show.
 * @param read gives the normal form of a text: what an earlier version of the gateway changed has another one by now.
 */
export function asWritten(normal: string, written: string | null, read: (text: string) => string | undefined): string {
  return written !== null && read(written) === normal ? written : normal;
}
