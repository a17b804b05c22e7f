// Scans the tokens of an expression before it is parsed: texts, comments, words and brackets. The parser is recursive, so an
// expression that is nested too deep must not reach it.

import { CelError } from './errors.ts';

/** The largest nesting depth of brackets, conditions (`a ? b : c`) and operators. */
export const NESTING_MAX = 100;

const QUOTED = [
  `[bB]?[rR][bB]?(?:'''[^]*?'''|"""[^]*?"""|'[^'\\r\\n]*'|"[^"\\r\\n]*")`,
  `[bB]?(?:'''(?:\\\\[^]|[^\\\\])*?'''|"""(?:\\\\[^]|[^\\\\])*?""")`,
  `[bB]?(?:'(?:\\\\.|[^'\\\\\\r\\n])*'|"(?:\\\\.|[^"\\\\\\r\\n])*")`,
].join('|');
const TOKEN = new RegExp(`(?:${QUOTED})|//[^\\r\\n]*|[A-Za-z_]\\w*|[^]`, 'y');
const CLOSING = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

interface Token {
  text: string;
  at: number;
}

function* tokens(text: string, from = 0): Generator<Token> {
  TOKEN.lastIndex = from;
  for (let at = from; at < text.length; ) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0] as string;
    yield { text: token, at };
    at += token.length;
  }
}

/** Checks brackets, quotes and nesting. @throws {CelError} when one is not closed, or the nesting is too deep. */
export function checkNesting(text: string): void {
  const open: Token[] = [];
  let conditions = 0;
  for (const token of tokens(text)) {
    checkQuote(token);
    if (CLOSING.has(token.text)) open.push(token);
    else if (token.text === ')' || token.text === ']' || token.text === '}') close(open.pop(), token);
    else if (token.text === '?') conditions++;
    if (open.length > NESTING_MAX || conditions > NESTING_MAX)
      throw new CelError('limit', token.at, `is nested deeper than ${NESTING_MAX} levels`);
  }
  const last = open.pop();
  if (last)
    throw new CelError(
      'syntax',
      last.at,
      `has a ${last.text} that is not closed: ${CLOSING.get(last.text)} is missing`,
    );
}

function close(open: Token | undefined, token: Token): void {
  if (!open) throw new CelError('syntax', token.at, `has a ${token.text} that closes nothing`);
  const wanted = CLOSING.get(open.text);
  if (wanted !== token.text)
    throw new CelError('syntax', token.at, `has ${token.text} where ${wanted} would close the ${open.text} before it`);
}

function checkQuote({ text, at }: Token): void {
  if (text === '"' || text === "'")
    throw new CelError(
      'syntax',
      at,
      `has a text that begins here and does not end: ${text} is missing, on the same line`,
    );
}

/** An expression in a template. */
export interface Interpolation {
  text: string;
  /** Its position in the template, after `${`. */
  at: number;
}

/** Splits a template into texts and interpolations `${…}`. @throws {CelError} when one is not closed. */
export function splitTemplate(template: string): (string | Interpolation)[] {
  const pieces: (string | Interpolation)[] = [];
  let from = 0;
  for (let start = template.indexOf('${'); start >= 0; start = template.indexOf('${', from)) {
    if (start > from) pieces.push(template.slice(from, start));
    const end = endOf(template, start + 2);
    pieces.push({ text: template.slice(start + 2, end), at: start + 2 });
    from = end + 1;
  }
  if (from < template.length) pieces.push(template.slice(from));
  return pieces;
}

function endOf(template: string, from: number): number {
  let depth = 0;
  for (const token of tokens(template, from)) {
    checkQuote(token);
    if (token.text === '{') depth++;
    else if (token.text === '}' && depth-- === 0) return token.at;
  }
  throw new CelError('syntax', from - 2, `has a \${ that is not closed: } is missing`);
}
