// Where the values of a JSON text are written.

/** From and to, in UTF-16 units of the text. */
export type Range = readonly [from: number, to: number];

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

interface Open {
  /** Names that were there; of a list, undefined. */
  names: Set<string> | undefined;
  /** Of the member that is read, or of the item. */
  key: string | number;
  /** Whether a name comes next. */
  isNaming: boolean;
}

/**
 * Finds all texts, numbers and words of a text that JSON.parse takes, by their paths in JSON, as `["a",0]`. There are none
 * when an object has a member twice: of the two, a path means one.
 */
export function jsonRanges(text: string): ReadonlyMap<string, Range> {
  const ranges = new Map<string, Range>();
  const open: Open[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const within = open.at(-1);
    if (token === '{') open.push({ names: new Set(), key: '', isNaming: true });
    else if (token === '[') open.push({ names: undefined, key: 0, isNaming: false });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':' || !within) continue;
    else if (token === ',') {
      within.isNaming = within.names !== undefined;
      if (typeof within.key === 'number') within.key++;
    } else if (within.isNaming) {
      within.key = JSON.parse(token) as string;
      within.isNaming = false;
      if (within.names?.has(within.key)) return new Map();
      within.names?.add(within.key);
    } else ranges.set(JSON.stringify(open.map(({ key }) => key)), [index, index + token.length]);
  }
  return ranges;
}
