// How the API's own names are said.

/** What a kind of object is called: `botUser` is a bot user, `apiKey` an API key. */
export function wordsOf(kind: string): string {
  const words = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace(/\b(api|https|ip|tls)\b/g, (word) => word.toUpperCase());
}
