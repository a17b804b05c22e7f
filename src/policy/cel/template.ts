// Templates: texts with interpolations `${…}`.

import type { CelInput } from '@bufbuild/cel';
import { growText, startBudget } from './cost-budget.ts';
import { CelError } from './errors.ts';
import { type CompiledExpression, compileExpression } from './expression.ts';
import { formatValue } from './format.ts';
import { splitTemplate } from './nesting.ts';
import type { SecretName } from './secret-names.ts';
import type { Bindings, Vocabulary } from './vocabulary.ts';

/** A compiled template. */
export interface Template {
  readonly text: string;
  /** The text of a template without interpolations; undefined with any. */
  readonly constant: string | undefined;
  /** The full names of the variables that it reads. */
  readonly variables: ReadonlySet<string>;
  /** The secrets that it reads. */
  readonly secrets?: readonly SecretName[];
  evaluate(bindings: Bindings): string;
  /** Evaluates the template. One that is a single interpolation keeps its type; the value of any other is a text. */
  evaluateValue(bindings: Bindings): CelInput;
}

/** How values are inserted: unchanged, or without control characters for a header field. */
export type TemplateStyle = 'plain' | 'header';

/** The most interpolations of one template. */
const EXPRESSIONS_MAX = 100;

const STYLES: Record<TemplateStyle, (computed: string) => string> = {
  plain: (computed) => computed,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  header: (computed) => computed.replace(/[\0-\x08\x0a-\x1f\x7f]/g, ''),
};

/**
 * Compiles a template. A `$` without a `{` is a literal. The evaluation throws a `CelFailure` for a runtime error, and
 * for a text of more than 1 MiB.
 * @throws {CelError} with the position in the template.
 */
export function compileTemplate(text: string, vocabulary: Vocabulary, style: TemplateStyle = 'plain'): Template {
  const cut = splitTemplate(text);
  if (cut.filter((piece) => typeof piece !== 'string').length > EXPRESSIONS_MAX)
    throw new CelError('limit', 0, `has more than ${EXPRESSIONS_MAX} expressions in it`);
  const pieces = cut.map((piece) => (typeof piece === 'string' ? piece : compileAt(piece.text, piece.at, vocabulary)));
  const [first, ...others] = pieces;
  const only = typeof first === 'object' && others.length === 0 ? first : undefined;
  const constant = pieces.some((piece) => typeof piece === 'object') ? undefined : text;
  const inStyle = STYLES[style];

  function evaluate(bindings: Bindings): string {
    if (constant !== undefined) return constant;
    startBudget(bindings);
    let result = '';
    for (const piece of pieces) {
      result += typeof piece === 'string' ? piece : inStyle(formatValue(piece.evaluate(bindings)));
      growText(result.length);
    }
    return result;
  }

  return {
    text,
    constant,
    variables: new Set(pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [...piece.variables]))),
    secrets: pieces.flatMap((piece) => (typeof piece === 'string' ? [] : (piece.secrets ?? []))),
    evaluate,
    evaluateValue: (bindings) => (only ? only.evaluate(bindings) : evaluate(bindings)),
  };
}

function compileAt(text: string, at: number, vocabulary: Vocabulary): CompiledExpression {
  try {
    return compileExpression(text, vocabulary);
  } catch (error) {
    if (error instanceof CelError)
      throw new CelError(error.code, at + error.position, `\${${text.trim()}} ${error.message}`);
    throw error;
  }
}
