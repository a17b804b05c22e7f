/** Texts without a character that JSON escapes; most texts are. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as a JSON string. It is twice as fast as `JSON.stringify`, which took half the time of writing an event. */
export function jsonString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
