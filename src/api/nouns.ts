// What messages and descriptions call the kinds of things.

/** What a message calls a kind of thing: `botUser` is a bot user, `apiKey` an API key. */
export function nounOf(kind: string): string {
  const words = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace(/\b(api|https|ip|tls)\b/g, (word) => word.toUpperCase());
}

export function pluralOf(noun: string): string {
  return noun.endsWith('y') && !noun.endsWith('ey') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
