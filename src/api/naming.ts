// How the API names things: members in camelCase for GraphQL and in snake_case for REST, and kinds of object in messages.

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Gives every field whose name has a capital letter an alias in snake_case, unless it has an alias already. */
export function inSnakeCase(selection: string): string {
  return selection.replace(/(\w+:\s*)?\b([a-z]+[A-Z]\w*)\b/g, (whole, alias: string | undefined, name: string) =>
    alias ? whole : `${snakeCase(name)}: ${name}`,
  );
}

/** What REST calls the arguments of a list. */
const listArguments: Record<string, string> = { first: 'limit', after: 'before_id', order: 'order_by' };

/** What REST calls a member or an argument. */
export function restName(name: string): string {
  return listArguments[name] ?? snakeCase(name);
}

/** What a message calls a kind of thing: `botUser` is a bot user, `apiKey` an API key. */
export function nounOf(kind: string): string {
  if (kind === 'anyEndpoint') return 'online or offline endpoint';
  const words = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace(/\b(api|http|https|ip|tcp|tls)\b/g, (word) => word.toUpperCase());
}

/** A noun with its indefinite article: `an API key`, `a user`. */
export function oneOf(noun: string): string {
  return /^([aeio]|HTTP|IP|API)/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

export function pluralOf(noun: string): string {
  if (noun.endsWith('y') && !noun.endsWith('ey')) return `${noun.slice(0, -1)}ies`;
  return noun.endsWith('ss') ? `${noun}es` : `${noun}s`;
}
