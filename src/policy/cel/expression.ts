// Expressions, compiled once and evaluated for every visit.

import { type CelInput, type CelResult, type CelType, type CelValue, isCelError, plan } from '@bufbuild/cel';
import { checkExpression } from './check.ts';
import { compileOnce } from './compilation.ts';
import { EVALUATION_COST_MAX, isOverBudget, startBudget } from './cost-budget.ts';
import { environmentOf } from './environment.ts';
import { CelError, CelFailure } from './errors.ts';
import { type Parsed, parseExpression, positionOf } from './parse.ts';
import { BOOL, DYN, describeType } from './types.ts';
import type { Bindings, Vocabulary } from './vocabulary.ts';

/** A compiled expression, for those who only evaluate it. */
export interface Expression {
  readonly text: string;
  /** The variables that it reads, by their whole names: `req.url.path`. */
  readonly variables: ReadonlySet<string>;
  evaluate(bindings: Bindings): CelInput;
}

/** An expression that can be evaluated. */
export interface CompiledExpression extends Expression {
  /** Of its value; `dyn` when that is known only once it is there. */
  readonly type: CelType;
  /** Throws a `CelFailure` when it has no value. */
  evaluate(bindings: Bindings): CelValue;
}

/**
 * Compiles an expression. Throws a `CelError` for what cannot be right whatever the visit: its `evaluate` throws a
 * `CelFailure` for what is not right this time.
 */
export function compileExpression(text: string, vocabulary: Vocabulary): CompiledExpression {
  return compileOnce(vocabulary, text, () => compileAnew(text, vocabulary));
}

function compileAnew(text: string, vocabulary: Vocabulary): CompiledExpression {
  const environment = environmentOf(vocabulary);
  const parsed = parseExpression(text);
  const { type, hasLoops, variables } = checkExpression(text, parsed, environment);
  const planned: (bindings: Bindings) => CelResult = plan(environment.env, parsed);
  const run = hasLoops ? withoutTraces(planned) : planned;
  return {
    text,
    type,
    variables,
    evaluate(bindings) {
      startBudget(bindings);
      const value = run(bindings);
      if (isOverBudget())
        throw new CelFailure(
          `${shown(text)} is too much to do: more than ${EVALUATION_COST_MAX} steps for one request`,
        );
      if (isCelError(value)) throw failure(text, parsed, value);
      return value;
    },
  };
}

/** Where a loop meets errors they are many, and the trace of an error, which nobody sees, costs more than all else. */
function withoutTraces<T>(run: (bindings: Bindings) => T): (bindings: Bindings) => T {
  return (bindings) => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      return run(bindings);
    } finally {
      Error.stackTraceLimit = limit;
    }
  };
}

/** An expression that is true or false. */
export interface CelCondition extends Pick<Expression, 'text' | 'variables'> {
  /** Throws a `CelFailure` when it is neither. */
  test(bindings: Bindings): boolean;
}

/** Compiles an expression that is true or false. Throws a `CelError`; what it returns throws a `CelFailure`. */
export function compileCondition(text: string, vocabulary: Vocabulary): CelCondition {
  const { type, variables, evaluate } = compileExpression(text, vocabulary);
  if (type !== BOOL && type !== DYN)
    throw new CelError('type', 0, `must be true or false, and is ${describeType(type)}: compare it, as in a == 'b'`);
  return {
    text,
    variables,
    test(bindings) {
      const value = evaluate(bindings);
      if (typeof value === 'boolean') return value;
      throw new CelFailure(`${shown(text)} is neither true nor false`);
    },
  };
}

function failure(text: string, parsed: Parsed, error: Error & { exprId: bigint | undefined }): CelFailure {
  const place = error.exprId === undefined ? '' : `, at character ${positionOf(text, parsed, error.exprId)}`;
  const reason = error.message === 'unresolved attribute' ? 'there is no value' : error.message;
  return new CelFailure(`${shown(text)}: ${reason}${place}`);
}

/** An expression in a message: its beginning, on one line. */
function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}
