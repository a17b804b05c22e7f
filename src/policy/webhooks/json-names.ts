// The names of members in a text of JSON, as they stand there: parsers differ in which of two members counts.

/**
 * What the members of the outermost object are called, each as often as it is there.
 * @param text well-formed JSON.
 */
export function memberNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let last = '""';
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const start = at++;
      for (; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
      if (depth === 1) last = text.slice(start, at + 1);
    } else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    else if (char === ':' && depth === 1) names.push(JSON.parse(last) as string);
  }
  return names;
}

/**
 * Whether members can be taken for each other: two of the same name, or of names that differ in case alone, which some
 * parsers do not look at. So that case means the same everywhere, names have to consist of letters from A to Z.
 */
export function areConfusing(names: readonly string[]): boolean {
  return (
    new Set(names.map((name) => name.toLowerCase())).size < names.length ||
    !names.every((name) => /^[A-Za-z]+$/.test(name))
  );
}
