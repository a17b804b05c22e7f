// What is wrong with a text that was to be JSON.

/** What V8 quotes of the text behind its finding. */
const QUOTED = /,? ?(?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s;

/** Why JSON.parse has refused a text, without a piece of it: that may be a secret. */
export function jsonMistake(error: unknown): string {
  return (error as Error).message.replace(QUOTED, '') || 'it is not valid JSON';
}
