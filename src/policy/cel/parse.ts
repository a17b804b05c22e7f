// Parses expressions, and explains syntax errors in plain words.

import { parse } from '@bufbuild/cel';
import { POLICY_LIMITS } from '../../protocol/policy/policy-shape.ts';
import { CelError } from './errors.ts';
import { checkNesting } from './nesting.ts';

export type Parsed = ReturnType<typeof parse>;
export type Expr = Parsed['expr'];
export type ExprKind = Expr['exprKind'];

/** Parses an expression of at most 8 KiB. @throws {CelError} the syntax error. */
export function parseExpression(text: string): Parsed {
  if (Buffer.byteLength(text) > POLICY_LIMITS.expression)
    throw new CelError('limit', 0, `must have at most ${POLICY_LIMITS.expression} bytes`);
  if (text.trim() === '')
    throw new CelError('syntax', 0, "is empty: an expression is something like req.method == 'GET'");
  checkNesting(text);
  try {
    return parse(text);
  } catch (error) {
    throw syntaxError(text, error);
  }
}

/** The position of a node in the text. */
export function positionOf(text: string, parsed: Parsed, id: bigint): number {
  const position = Number(parsed.sourceInfo?.positions[id.toString()] ?? 0);
  const blank = /^\s*/.exec(text.slice(position))?.[0].length ?? 0;
  return Math.min(position + blank, text.length);
}

/** Frequent mistakes: how the rest of the text starts, and a hint. */
const HINTS: [rest: RegExp, hint: string][] = [
  [/^===/, 'equality is =='],
  [/^=>/, 'CEL has no functions of its own: a list is looked through as in list.exists(x, x == 1)'],
  [/^=(?!=)/, 'equality is ==, and nothing can be assigned'],
  [/^&(?!&)/, '"and" is &&'],
  [/^\|(?!\|)/, '"or" is ||'],
  [/^and\b/i, '"and" is &&'],
  [/^or\b/i, '"or" is ||'],
  [/^for\b/, 'a list is made of another as in list.map(x, x + 1)'],
  [/^not\b/i, '"not" is !'],
  [/^;/, 'write a single expression, without ;'],
  [/^`/, "texts stand in quotes: 'text'"],
  [/^\$\{/, `\${ } is for texts with something in them: this is an expression already`],
  [/^\$/, 'names do not begin with $'],
  [/^[([]?\s*$/, 'something is missing behind it'],
  [/^\?/, 'a condition is written as in a ? b : c'],
  [/^(?:[-+*/%<>,.:]|==|!=|<=|>=|&&|\|\|)/, 'it needs a value on both sides'],
];

function syntaxError(text: string, error: unknown): CelError {
  if (!(error instanceof Error)) throw error;
  if (error instanceof RangeError) return new CelError('limit', 0, 'is nested too deep');
  const place = (error as { location?: { start: { offset: number } } }).location;
  if (!place) return new CelError('syntax', 0, `cannot be read: ${error.message}`);
  const at = place.start.offset;
  const rest = text.slice(at);
  if (text.startsWith('{{'))
    return new CelError(
      'syntax',
      0,
      "begins with {{: an expression stands alone, as req.method == 'GET', without {{ }}",
    );
  if (/reserved/.test(error.message)) {
    const word = /^\w+/.exec(rest)?.[0] ?? rest;
    const hint = hintFor(rest) ?? `a field of that name is written as in map['${word}']`;
    return new CelError('syntax', at, `uses ${word}, which is a word of the language: ${hint}`);
  }
  if (rest === '') return new CelError('syntax', at, 'ends too early: something is missing at its end');
  const before = /(?:^|[^\w.])(not|and|or)\s+$/i.exec(text.slice(0, at))?.[1];
  const hint = (before && hintFor(before)) ?? hintFor(rest) ?? 'an operator such as && or + is missing before it';
  const shown = rest.length > 20 ? `${rest.slice(0, 20)}…` : rest;
  return new CelError('syntax', at, `cannot be read from "${shown}" on: ${hint}`);
}

const hintFor = (rest: string) => HINTS.find(([pattern]) => pattern.test(rest))?.[1];
