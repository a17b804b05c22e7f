// snake_case lives at the REST door only; these know both.

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** What REST calls the arguments of a list. */
const listArguments: Record<string, string> = { first: 'limit', after: 'before_id' };

/** What REST calls a member or an argument. */
export function restName(name: string): string {
  return listArguments[name] ?? snakeCase(name);
}
