// What `log` actions of policies said, as traffic events have it. A policy can make megabytes of a single request.

/** Characters of the texts and names in all notes of an event, and some for each other value. */
const NOTES_LENGTH = 32 * 1024;
const VALUE_LENGTH = 8;

/** In JSON: the first notes, as many as are not too long together. @param notes objects that JSON can say. */
export function writePolicyLogs(notes: readonly object[]): string {
  let left = NOTES_LENGTH;
  const tooMany = notes.findIndex((note) => {
    left = leftAfter(note, left);
    return left < 0;
  });
  return JSON.stringify(tooMany < 0 ? notes : notes.slice(0, tooMany));
}

/** What is left of a length after a value. It is not looked at any further than that. */
function leftAfter(value: unknown, length: number): number {
  if (typeof value === 'string') return length - value.length;
  let left = length - VALUE_LENGTH;
  if (typeof value !== 'object' || value === null) return left;
  for (const name in value) {
    if (left < 0) return left;
    left = leftAfter((value as Record<string, unknown>)[name], left - name.length);
  }
  return left;
}
