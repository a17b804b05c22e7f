// A filter as chips: the conditions that are joined by `&&`. What no chip can show stays the expression that it is.

import { type Member, type Operator, operators } from './operators.ts';

/** A condition that can be shown and edited in parts. */
export interface Comparison {
  member: string;
  operator: Operator;
  /** '' where the operator takes none. */
  value: string;
  /** The key of a label. */
  key: string;
}

/** One condition of a filter. */
export type Term = Comparison | { expression: string };

/** Reads a filter. Without its members, all conditions are expressions. */
export function readTerms(filter: string, members: readonly Member[]): Term[] {
  return conjuncts(filter).map((expression) => readComparison(expression, members) ?? { expression });
}

/** The filter that has these conditions; '' for none. */
export function writeTerms(terms: readonly Term[]): string {
  const texts = terms.map((term) => ('expression' in term ? term.expression : writeComparison(term)));
  // `a || b` among others needs parentheses to stay one condition.
  return texts.map((text) => (texts.length > 1 && scan(text).isLoose ? `(${text})` : text)).join(' && ');
}

/** A filter with another condition `member == value`, in the place of one that compares the same member. */
export function withCondition(filter: string, condition: string): string {
  const [member] = condition.split(' == ');
  const others = readTerms(filter, []).filter(
    (term) => 'expression' in term && !term.expression.startsWith(`${member} ==`),
  );
  return writeTerms([...others, { expression: condition }]);
}

function writeComparison({ member, operator, value, key }: Comparison): string {
  const parts: Record<string, string> = {
    m: member,
    v: JSON.stringify(value),
    b: value,
    n: value,
    k: JSON.stringify(key),
  };
  return operator.template.replace(/\$([mvbnk])/g, (_, part) => parts[part] ?? '');
}

function readComparison(expression: string, members: readonly Member[]): Comparison | undefined {
  for (const operator of operators) {
    const groups = patternOf(operator).exec(expression)?.groups;
    const member = groups && members.find(({ name }) => name === groups.member);
    if (!groups || !member || !operator.types.includes(member.type)) continue;
    const [value, key] = [textOf(groups.value), textOf(groups.key)];
    if (value === undefined || key === undefined) continue;
    if (operator.value === 'choice' && !member.choices.includes(value)) continue;
    return { member: member.name, operator, value: groups.truth ?? groups.number ?? value, key };
  }
  return undefined;
}

const patterns = new Map<Operator, RegExp>();

function patternOf(operator: Operator): RegExp {
  const known = patterns.get(operator);
  if (known) return known;
  const pattern = operator.template
    .replace(/[.*+?^()|[\]\\]/g, '\\$&')
    .replaceAll(' ', '\\s*')
    .replace('$m', '(?<member>[a-z_][\\w.]*)')
    .replaceAll('$m', '\\k<member>')
    .replace('$v', '(?<value>"(?:[^"\\\\]|\\\\.)*")')
    .replace('$k', '(?<key>"(?:[^"\\\\]|\\\\.)*")')
    .replace('$b', '(?<truth>true|false)')
    .replace('$n', '(?<number>\\d+)');
  const made = new RegExp(`^${pattern}$`);
  patterns.set(operator, made);
  return made;
}

/** The text of a literal; '' without one, undefined for what only CEL can read. */
function textOf(literal: string | undefined): string | undefined {
  if (literal === undefined) return '';
  try {
    return JSON.parse(literal);
  } catch {
    return undefined;
  }
}

/** The conditions that are joined by `&&` outside of all brackets; the whole text where that is not plain. */
function conjuncts(filter: string): string[] {
  const text = filter.trim();
  if (text === '') return [];
  const { ands, isLoose, isBalanced } = scan(text);
  if (isLoose || !isBalanced) return [text];
  const ends = [...ands, text.length];
  const parts = ends.map((end, index) => text.slice(index === 0 ? 0 : (ands[index - 1] ?? 0) + 2, end).trim());
  return parts.includes('') ? [text] : parts;
}

interface Scan {
  /** Where each `&&` outside of brackets and quotes is. */
  ands: number[];
  /** Whether something outside of brackets binds less than `&&`: `||` or `?`. */
  isLoose: boolean;
  isBalanced: boolean;
}

function scan(text: string): Scan {
  const ands: number[] = [];
  let isLoose = false;
  let depth = 0;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (quote !== '') {
      if (letter === '\\') at += 1;
      else if (letter === quote) quote = '';
    } else if (letter === '"' || letter === "'") quote = letter;
    else if ('([{'.includes(letter)) depth += 1;
    else if (')]}'.includes(letter)) depth -= 1;
    else if (depth === 0 && text.startsWith('&&', at)) ands.push(at++);
    else if (depth === 0 && (letter === '?' || text.startsWith('||', at))) isLoose = true;
    if (depth < 0) break;
  }
  return { ands, isLoose, isBalanced: depth === 0 && quote === '' };
}
