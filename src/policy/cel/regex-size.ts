// How large a pattern is, before it is compiled.

/** Repeats beyond this are refused when it is read. */
const REPEAT_MAX = 1000;
/** What a class of Unicode such as `\pL` takes once, however often it is repeated: it is a long list of ranges. */
const CLASS_SIZE = 50;

const PARTS =
  /\\Q.*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)|\\.|\[\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]?|\((?:\?(?:P?<\w*>|[a-zA-Z-]*:?))?|\)|\{(\d+)(?:(,)(\d*))?\}|./gs;

/**
 * About how many instructions a pattern comes to: what is repeated counts as often as it is. It never takes longer than the
 * pattern is long, and never fails: what is no pattern is found when it is compiled.
 */
export function sizeOfPattern(pattern: string): number {
  const outer: number[] = [];
  let size = 0;
  let last = 0;
  for (const [part, min, comma, max] of pattern.matchAll(PARTS)) {
    if (min !== undefined) {
      const times = Math.max(1, Math.min(REPEAT_MAX, Number(comma && max ? max : min) + (comma && !max ? 1 : 0)));
      size += last * (times - 1);
      last *= times;
    } else if (part.startsWith('(')) {
      outer.push(size);
      size = 0;
      last = 0;
    } else if (part === ')') {
      last = size;
      size += outer.pop() ?? 0;
    } else {
      last = part.startsWith('\\Q') ? part.length : 1;
      size += last + CLASS_SIZE * (part.match(/\\[pP]/g)?.length ?? 0);
    }
  }
  return outer.reduce((sum, one) => sum + one, size);
}
