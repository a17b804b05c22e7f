interface LineRange {
  /** Indexes of lines; `to` is exclusive. */
  from: number;
  to: number;
}

/**
 * Finds the line of a policy document that a problem is about.
 * @param path the place that the gateway names: `on_http_request[0].actions[1].config.url`. The message may name a
 * line.
 * @returns the line, counted from 1, as exactly as the layout of the document allows; undefined if it is not found.
 */
export function findProblemLine(text: string, path: string, message: string): number | undefined {
  const reportedLine = /\(line (\d+), column \d+\)/.exec(message)?.[1];
  if (reportedLine) return Number(reportedLine);
  const lines = text.split('\n');
  let part: LineRange = { from: 0, to: lines.length };
  let found: number | undefined;
  for (const [, key, index] of path.matchAll(/([\w-]+)|\[(\d+)\]/g)) {
    const next = key === undefined ? findEntry(lines, part, Number(index)) : findMember(lines, part, key);
    if (!next) break;
    part = next;
    found = next.from + 1;
  }
  return found;
}

/** The lines of a member: from its key to the next line with the same indentation or less. */
function findMember(lines: readonly string[], { from, to }: LineRange, key: string): LineRange | undefined {
  const pattern = new RegExp(`(^|[\\s{,"'-])${key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}["']?\\s*:`);
  const line = lines.findIndex((text, index) => index >= from && index < to && pattern.test(text));
  if (line < 0) return undefined;
  const depth = (lines[line] ?? '').search(new RegExp(`["']?${key}["']?\\s*:`));
  return { from: line, to: endOf(lines, line, to, depth) };
}

/** The lines of a list item, which begins with a dash in YAML and with a bracket in JSON. */
function findEntry(lines: readonly string[], { from, to }: LineRange, index: number): LineRange | undefined {
  const first = lines.findIndex((text, line) => line > from && line < to && /^\s*[-{["']/.test(text));
  if (first < 0) return undefined;
  const depth = indentOf(lines[first]);
  const entryLines = lines.flatMap((text, line) =>
    line >= first && line < to && indentOf(text) === depth && /^\s*[-{["']/.test(text) ? [line] : [],
  );
  const begin = entryLines[index];
  return begin === undefined ? undefined : { from: begin, to: entryLines[index + 1] ?? to };
}

function endOf(lines: readonly string[], line: number, to: number, depth: number): number {
  const end = lines.findIndex(
    (text, index) =>
      index > line && index < to && text.trim() !== '' && indentOf(text) <= depth && !/^\s*[-\]}]/.test(text),
  );
  return end < 0 ? to : end;
}

function indentOf(line: string | undefined): number {
  return (line ?? '').search(/\S|$/);
}
