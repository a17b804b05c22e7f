// Regular expressions in the syntax of RE2, which take time in proportion to the text, whatever the pattern.

import { LRUCache } from 'lru-cache';
import type { RE2JS } from 're2js';
import { lazyPackage } from '../../runtime/lazy-package.ts';
import { compileOnce } from './compilation.ts';
import { spend, TEXT_LENGTH_MAX } from './cost-budget.ts';

const re2js = lazyPackage<typeof import('re2js')>('re2js');

/** Bytes of a pattern, and instructions it may be compiled to: each is looked at once for every character of a text. */
const PATTERN_MAX = 8 * 1024;
const PROGRAM_MAX = 5_000;
/** What a pattern may come to before it is compiled: compiling takes its time, whatever comes out. */
const SIZE_MAX = 2 * PROGRAM_MAX;

/** Units of work for a character of a pattern, and for an instruction of it, when it is compiled for a visit. */
const COMPILE_WORK = 4;
const TOO_LARGE = 'is too large: it repeats too much, or has too many alternatives';

/** Patterns that are kept compiled; and bytes of what each finds out about itself while it is used, and may lose again. */
const KEPT = 1_000;
const AUTOMATON_MAX = 128 * 1024;

/** A pattern that is none, or too large; the message says why. */
export class RegexError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegexError';
  }
}

export interface Pattern {
  readonly text: string;
  /** Capturing groups. */
  readonly groups: number;
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean;
  /** What was found first, followed by what its groups took (undefined: nothing); undefined when it is not there. */
  find(text: string): (string | undefined)[] | undefined;
  /**
   * Replaces each match. In `to`, `$1` and `${1}` are what a group took, `${name}` and `$<name>` one with a name, `$0` and
   * `$&` all that was found, `$$` is a dollar sign; a group that is not there leaves what is written. Throws a `RegexError`
   * when the result has more than 1 MiB.
   */
  replaceAll(text: string, to: string): string;
  /** Replaces the first match, as `replaceAll` does. */
  replaceFirst(text: string, to: string): string;
}

const patterns = new LRUCache<string, CompiledPattern>({ max: KEPT });

/** Compiles a pattern, or finds it compiled. Throws a `RegexError`. */
export function compilePattern(text: string): Pattern {
  return patternOf(text);
}

/** What `matches` of expressions goes by: it counts as work (`work.ts`). */
export const RE2 = {
  compile(text: string) {
    // A pattern that is computed may be another one each time.
    if (!patterns.has(text)) spend(COMPILE_WORK * (1 + text.length + Math.min(sizeOfPattern(text), SIZE_MAX)));
    return patternOf(text).metered;
  },
};

function patternOf(text: string): CompiledPattern {
  const kept = patterns.get(text);
  if (kept) return kept;
  return compileOnce(patterns, text, () => {
    const pattern = new CompiledPattern(text);
    patterns.set(text, pattern);
    return pattern;
  });
}

const REFERENCE = /\$(?:([1-9]?\d)|\{(\w+)\}|<(\w+)>|([&$]))/g;

class CompiledPattern implements Pattern {
  readonly text: string;
  readonly groups: number;
  readonly metered: { test(text: string): boolean };
  readonly #re2: RE2JS;
  readonly #names: Record<string, number>;

  constructor(text: string) {
    if (Buffer.byteLength(text) > PATTERN_MAX) throw new RegexError(`must have at most ${PATTERN_MAX} bytes`);
    if (sizeOfPattern(text) > SIZE_MAX) throw new RegexError(TOO_LARGE);
    try {
      this.#re2 = re2js().RE2JS.compile(text);
    } catch (error) {
      if (!(error instanceof re2js().RE2JSException)) throw error;
      throw new RegexError(`is not a regular expression (RE2): ${error.message.replace('error parsing regexp: ', '')}`);
    }
    const size = this.#re2.programSize();
    if (size > PROGRAM_MAX) throw new RegexError(TOO_LARGE);
    const { dfa } = this.#re2.re2();
    dfa.stateBudget = AUTOMATON_MAX;
    dfa.memBudget = AUTOMATON_MAX;
    this.text = text;
    this.groups = this.#re2.groupCount();
    this.#names = this.#re2.namedGroups();
    this.metered = {
      test: (subject) => {
        spend(1 + (subject.length * (16 + size)) / 64);
        return this.#re2.test(subject);
      },
    };
  }

  test(text: string): boolean {
    return this.#re2.test(text);
  }

  find(text: string): (string | undefined)[] | undefined {
    const matcher = this.#re2.matcher(text);
    if (!matcher.find()) return undefined;
    return Array.from({ length: this.groups + 1 }, (_, group) => matcher.group(group) ?? undefined);
  }

  replaceAll(text: string, to: string): string {
    return this.#replace(text, to, 'replaceAll');
  }

  replaceFirst(text: string, to: string): string {
    return this.#replace(text, to, 'replaceFirst');
  }

  #replace(text: string, to: string, method: 'replaceAll' | 'replaceFirst'): string {
    let length = text.length;
    return this.#re2.matcher(text)[method]((...found: (string | undefined)[]) => {
      const replacement = this.#expand(to, found);
      length += replacement.length;
      if (length > TEXT_LENGTH_MAX) throw new RegexError(`makes a text of more than ${TEXT_LENGTH_MAX} characters`);
      return replacement;
    });
  }

  /** @param found the match, and behind it the groups (and more, which is not looked at). */
  #expand(to: string, found: readonly (string | undefined)[]): string {
    if (!to.includes('$')) return to;
    return to.replace(REFERENCE, (written, number, braced, named, sign) => {
      if (sign) return sign === '$' ? '$' : (found[0] ?? '');
      const name = number ?? braced ?? named;
      const group = /^\d+$/.test(name)
        ? Number(name)
        : Object.hasOwn(this.#names, name)
          ? this.#names[name]
          : undefined;
      return group === undefined || group > this.groups ? written : (found[group] ?? '');
    });
  }
}

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
