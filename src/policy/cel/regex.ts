// Regular expressions in RE2 syntax. Their time is linear in the length of the text for every pattern.

import { LRUCache } from 'lru-cache';
import type { RE2JS } from 're2js';
import { lazyPackage } from '../../runtime/lazy-package.ts';
import { compileOnce } from './compilation.ts';
import { spend, TEXT_LENGTH_MAX } from './cost-budget.ts';

const re2js = lazyPackage<typeof import('re2js')>('re2js');

/** The most bytes of a pattern, and the most instructions of its program, each of which may run once for every character. */
const PATTERN_MAX = 8 * 1024;
const PROGRAM_MAX = 5_000;
/** The largest estimated program that is compiled at all, as compiling itself takes time. */
const SIZE_MAX = 2 * PROGRAM_MAX;

/** The cost of a character and of an instruction of a pattern that is compiled during an evaluation. */
const COMPILE_COST = 4;
const TOO_LARGE = 'is too large: it repeats too much, or has too many alternatives';

/** The most cached patterns, and the most bytes of the lazily built automaton (DFA) of each. */
const CACHED_MAX = 1_000;
const AUTOMATON_MAX = 128 * 1024;

/** A pattern is invalid or too large; the message says why. */
export class RegexError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegexError';
  }
}

/** A compiled pattern. */
export interface Pattern {
  readonly text: string;
  /** The number of capturing groups. */
  readonly groups: number;
  /** What one search of so many characters costs at most, in the units of `cost-budget.ts`. */
  cost(length: number): number;
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
  /** The first match and its groups, which are undefined when they did not take part; undefined without a match. */
  find(text: string): (string | undefined)[] | undefined;
  /**
   * Replaces each match. In `to`, `$1` and `${1}` are groups, `${name}` and `$<name>` named groups, `$0` and `$&` the whole
   * match, and `$$` a dollar sign. A reference to an unknown group stays as it is.
   * @throws {RegexError} when the result has more than 1 MiB.
   */
  replaceAll(text: string, to: string): string;
  /** Replaces the first match like `replaceAll`. */
  replaceFirst(text: string, to: string): string;
}

const patterns = new LRUCache<string, CompiledPattern>({ max: CACHED_MAX });

/** Returns a compiled pattern, which may be cached. @throws {RegexError} when it is invalid. */
export function compilePattern(text: string): Pattern {
  return patternOf(text);
}

/** The implementation of `matches` in expressions. It counts the cost (`cost-budget.ts`). */
export const RE2 = {
  compile(text: string) {
    // A computed pattern may be new for each request, so that its compilation counts, too.
    if (!patterns.has(text)) spend(COMPILE_COST * (1 + text.length + Math.min(sizeOfPattern(text), SIZE_MAX)));
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
  readonly #size: number;
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
    this.#size = size;
    this.groups = this.#re2.groupCount();
    this.#names = this.#re2.namedGroups();
    this.metered = {
      test: (subject) => {
        spend(this.cost(subject.length));
        return this.#re2.test(subject);
      },
    };
  }

  cost(length: number): number {
    return 1 + (length * (16 + this.#size)) / 64;
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

  /** Expands the references in a replacement. @param found the match and its groups; further entries are ignored. */
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

/** The largest repetition that the parser accepts. */
const REPEAT_MAX = 1000;
/** The estimated size of a Unicode class such as `\pL`, which is a long list of ranges. */
const CLASS_SIZE = 50;

const PARTS =
  /\\Q.*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)|\\.|\[\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]?|\((?:\?(?:P?<\w*>|[a-zA-Z-]*:?))?|\)|\{(\d+)(?:(,)(\d*))?\}|./gs;

/**
 * Estimates the number of instructions of a pattern, including repetitions. The time is linear in the length of the
 * pattern. It never fails: an invalid pattern is found when it is compiled.
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
