// The known names, and suggestions for unknown ones.

import type { CelFunc, CelType } from '@bufbuild/cel';
import { describeType } from './types.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The names of types, which are also values, as in `type(x) == string`. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  ...['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint'],
  ...['google.protobuf.Duration', 'google.protobuf.Timestamp'],
]);

/** The forms of macros. A call with the name of a macro in another form is a mistake. */
const MACROS: Readonly<Record<string, string>> = {
  all: 'list.all(x, x > 1)',
  exists: 'list.exists(x, x > 1)',
  exists_one: 'list.exists_one(x, x > 1)',
  filter: 'list.filter(x, x > 1)',
  has: "has(map['key'])",
  map: 'list.map(x, x + 1)',
  sortBy: 'list.sortBy(x, x.key)',
};

/** The variable at the start of a chain of names such as `req.headers.host`. */
export interface NamedVariable {
  /** The name, as in `req.headers`. */
  name: string;
  type: CelType;
  /** The number of names of the chain that it consists of. */
  length: number;
}

/** The longest variable at the start of a chain of names. */
export function variableOf(vocabulary: Vocabulary, chain: readonly string[]): NamedVariable | undefined {
  for (let length = chain.length; length > 0; length--) {
    const name = chain.slice(0, length).join('.');
    if (Object.hasOwn(vocabulary.variables, name)) return { name, type: vocabulary.variables[name] as CelType, length };
  }
  return undefined;
}

/** The message for an unknown chain of names. @param of the type of its start, when that is a variable without fields. */
export function unknownVariable(vocabulary: Vocabulary, names: readonly string[], of?: CelType): string {
  const reason = missingReason(vocabulary.missing, names);
  if (reason) return reason;
  const name = names.join('.');
  const hint = suggestion(name, Object.keys(vocabulary.variables).filter(isFunctionName));
  return `uses ${name}, which is not known${hint || (of ? `: it is below ${describeType(of)}` : '')}`;
}

/** Whether a function can be called by name. Others are operators and functions of expanded macros. */
export const isFunctionName = (name: string) => /^[a-z]/i.test(name);

/** The message for an unknown function. */
export function unknownFunction(
  functions: Iterable<CelFunc>,
  vocabulary: Vocabulary,
  name: string,
  namespace: string | undefined,
): string {
  const known = Array.from(functions, (form) => form.name).filter(isFunctionName);
  const isNamespace = known.some((other) => other.startsWith(`${namespace}.`));
  const whole = isNamespace ? `${namespace}.${name}` : name;
  const reason = missingReason(vocabulary.missing, [whole]);
  if (reason) return reason;
  const macro = Object.hasOwn(MACROS, name) ? MACROS[name] : undefined;
  if (macro) return `writes ${name} in another form than ${macro}`;
  return `calls ${whole}, and there is no such function${suggestion(whole, [...new Set([...known, ...Object.keys(MACROS)])])}`;
}

/**
 * The reason why a name of other implementations is not available.
 * @param missing reasons by name; they hold for all names below.
 */
function missingReason(missing: Readonly<Record<string, string>>, chain: readonly string[]): string | undefined {
  for (let length = chain.length; length > 0; length--) {
    const name = chain.slice(0, length).join('.');
    if (Object.hasOwn(missing, name)) return `${name} ${missing[name]}`;
  }
  return undefined;
}

/** A suggestion for an unknown name, worded to be appended to it; empty when no known name is similar. */
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

/** The Levenshtein distance of two words, at most `max`. */
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
