// Finds the positions of the values in a JSON text.

/** The start and the end of a value, in UTF-16 code units. */
export type Range = readonly [from: number, to: number];

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** An object or a list that is being read. */
interface Container {
  /** The member names so far; undefined for a list. */
  names: Set<string> | undefined;
  /** The name or the index of the current value. */
  key: string | number;
  /** Whether the next token is a member name. */
  expectsName: boolean;
}

/**
 * Finds the scalars of a valid JSON text. They are keyed by their paths in JSON, as in `["a",0]`. The result is empty
 * when an object has a member twice, as a path is ambiguous then.
 */
export function jsonRanges(text: string): ReadonlyMap<string, Range> {
  const ranges = new Map<string, Range>();
  const containers: Container[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const container = containers.at(-1);
    if (token === '{') containers.push({ names: new Set(), key: '', expectsName: true });
    else if (token === '[') containers.push({ names: undefined, key: 0, expectsName: false });
    else if (token === '}' || token === ']') containers.pop();
    else if (token === ':' || !container) continue;
    else if (token === ',') {
      container.expectsName = container.names !== undefined;
      if (typeof container.key === 'number') container.key++;
    } else if (container.expectsName) {
      container.key = JSON.parse(token) as string;
      container.expectsName = false;
      if (container.names?.has(container.key)) return new Map();
      container.names?.add(container.key);
    } else ranges.set(JSON.stringify(containers.map(({ key }) => key)), [index, index + token.length]);
  }
  return ranges;
}
