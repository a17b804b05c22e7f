// Which names there are, and which was meant by one that there is not.

import type { CelFunc, CelType } from '@bufbuild/cel';
import { describeType } from './types.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Names of types, which are values too: `type(x) == string`. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  ...['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint'],
  ...['google.protobuf.Duration', 'google.protobuf.Timestamp'],
]);

/** How macros are written: what is called like one and is none was written in another way. */
const MACROS: Readonly<Record<string, string>> = {
  all: 'list.all(x, x > 1)',
  exists: 'list.exists(x, x > 1)',
  exists_one: 'list.exists_one(x, x > 1)',
  filter: 'list.filter(x, x > 1)',
  has: "has(map['key'])",
  map: 'list.map(x, x + 1)',
  sortBy: 'list.sortBy(x, x.key)',
};

/** Functions that exist elsewhere: why they are not here. */
export const MISSING_FUNCTIONS: Readonly<Record<string, string>> = {
  'secrets.get': 'needs a vault of secrets, which this gateway does not have',
};

/** What a chain of names such as `req.headers.host` begins with. */
export interface NamedVariable {
  /** `req.headers` */
  name: string;
  type: CelType;
  /** How many names of the chain it takes. */
  length: number;
}

/** The variable that a chain of names begins with, the longest that there is. */
export function variableOf(vocabulary: Vocabulary, chain: readonly string[]): NamedVariable | undefined {
  for (let length = chain.length; length > 0; length--) {
    const name = chain.slice(0, length).join('.');
    if (Object.hasOwn(vocabulary.variables, name)) return { name, type: vocabulary.variables[name] as CelType, length };
  }
  return undefined;
}

/** Why a chain of names is nothing, `of` being what its beginning is, where that has no fields. */
export function whyNoVariable(vocabulary: Vocabulary, names: readonly string[], of?: CelType): string {
  const reason = whyMissing(vocabulary.missing, names);
  if (reason) return reason;
  const name = names.join('.');
  const hint = suggestion(name, Object.keys(vocabulary.variables));
  return `uses ${name}, which is not known${hint || (of ? `: it is below ${describeType(of)}` : '')}`;
}

/** Whether a function has a name that people write; others are operators, and what the compiler puts in place of macros. */
export const isFunctionName = (name: string) => /^[a-z]/i.test(name);

/** Why there is no such function. */
export function whyNoFunction(
  functions: Iterable<CelFunc>,
  vocabulary: Vocabulary,
  name: string,
  namespace: string | undefined,
): string {
  const known = Array.from(functions, (form) => form.name).filter(isFunctionName);
  const isNamespace = [...known, ...Object.keys(MISSING_FUNCTIONS)].some((other) => other.startsWith(`${namespace}.`));
  const whole = isNamespace ? `${namespace}.${name}` : name;
  const reason = whyMissing(MISSING_FUNCTIONS, [whole]) ?? whyMissing(vocabulary.missing, [whole]);
  if (reason) return reason;
  const macro = Object.hasOwn(MACROS, name) ? MACROS[name] : undefined;
  if (macro) return `writes ${name} in another form than ${macro}`;
  return `calls ${whole}, and there is no such function${suggestion(whole, [...new Set([...known, ...Object.keys(MACROS)])])}`;
}

/** Why a name cannot be had here that exists elsewhere, `missing` being reasons by name, for all that is below them too. */
function whyMissing(missing: Readonly<Record<string, string>>, chain: readonly string[]): string | undefined {
  for (let length = chain.length; length > 0; length--) {
    const name = chain.slice(0, length).join('.');
    if (Object.hasOwn(missing, name)) return `${name} ${missing[name]}`;
  }
  return undefined;
}

/** What would be right in place of `wrong`, to be put behind it; empty when nothing is like it. */
export function suggestion(wrong: string, known: Iterable<string>): string {
  let best: string | undefined;
  let least = Math.min(4, Math.ceil(wrong.length / 3)) + 1;
  const below: string[] = [];
  for (const name of known) {
    if (name.startsWith(`${wrong}.`)) below.push(name);
    const distance = wordDistance(wrong.toLowerCase(), name.toLowerCase(), least);
    if (distance < least) [best, least] = [name, distance];
  }
  if (below.length > 0) return `: it has ${below.slice(0, 5).join(', ')}${below.length > 5 ? ' and others' : ''}`;
  return best ? `: did you mean ${best}?` : '';
}

/** How many letters are to be changed, added or left out; `max` when it is as many or more. */
function wordDistance(left: string, right: string, max: number): number {
  if (Math.abs(left.length - right.length) >= max) return max;
  let row = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return Math.min(row[right.length] as number, max);
}
