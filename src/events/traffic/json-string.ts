/** What most texts are, and JSON has as they are. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text in JSON. Twice as fast as `JSON.stringify`, which is half of what an event costs. */
export function jsonString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
