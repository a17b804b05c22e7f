// CEL expressions, which are compiled once and evaluated for every request.

import { type CelInput, type CelResult, type CelType, type CelValue, isCelError, plan } from '@bufbuild/cel';
import { checkExpression } from './check.ts';
import { compileOnce } from './compilation.ts';
import { EVALUATION_COST_MAX, isOverBudget, startBudget } from './cost-budget.ts';
import { environmentOf } from './environment.ts';
import { CelError, CelFailure } from './errors.ts';
import { type Parsed, parseExpression, positionOf } from './parse.ts';
import { type SecretName, secretNamesIn } from './secret-names.ts';
import { BOOL, DYN, describeType } from './types.ts';
import type { Bindings, Vocabulary } from './vocabulary.ts';

/** The part of a compiled expression that its users need. */
export interface Expression {
  readonly text: string;
  /** The full names of the variables that it reads, as in `req.url.path`. */
  readonly variables: ReadonlySet<string>;
  /** The secrets that it reads. */
  readonly secrets?: readonly SecretName[];
  evaluate(bindings: Bindings): CelInput;
}

/** A compiled expression. */
export interface CompiledExpression extends Expression {
  /** The type of its value; `dyn` when it is unknown before the evaluation. */
  readonly type: CelType;
  /** Evaluates the expression. @throws {CelFailure} when it has no value. */
  evaluate(bindings: Bindings): CelValue;
}

/**
 * Compiles an expression. Mistakes that do not depend on the request are found here; all others when it is evaluated.
 * @throws {CelError} the first mistake.
 */
export function compileExpression(text: string, vocabulary: Vocabulary): CompiledExpression {
  return compileOnce(vocabulary, text, () => compileUncached(text, vocabulary));
}

function compileUncached(text: string, vocabulary: Vocabulary): CompiledExpression {
  const environment = environmentOf(vocabulary);
  const parsed = parseExpression(text);
  const { type, hasLoops, variables } = checkExpression(text, parsed, environment);
  const secrets = secretNamesIn(parsed.expr);
  const planned: (bindings: Bindings) => CelResult = plan(environment.env, parsed);
  const run = hasLoops ? withoutTraces(planned) : planned;
  return {
    text,
    type,
    variables,
    secrets,
    evaluate(bindings) {
      startBudget(bindings);
      const value = run(bindings);
      if (isOverBudget())
        throw new CelFailure(
          `${excerpt(text)} is too much to do: more than ${EVALUATION_COST_MAX} steps for one request`,
        );
      if (isCelError(value)) throw failure(text, parsed, value);
      return value;
    },
  };
}

/**
 * Disables stack traces during the evaluation: a loop may create many errors, and a trace, which is never shown, costs
 * most.
 */
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

/** A compiled boolean expression. */
export interface CelCondition extends Pick<Expression, 'text' | 'variables' | 'secrets'> {
  /** Evaluates the condition. @throws {CelFailure} when it has no boolean value. */
  test(bindings: Bindings): boolean;
}

/** Compiles a boolean expression. @throws {CelError} the first mistake. */
export function compileCondition(text: string, vocabulary: Vocabulary): CelCondition {
  const { type, variables, secrets, evaluate } = compileExpression(text, vocabulary);
  if (type !== BOOL && type !== DYN)
    throw new CelError('type', 0, `must be true or false, and is ${describeType(type)}: compare it, as in a == 'b'`);
  return {
    text,
    variables,
    secrets,
    test(bindings) {
      const value = evaluate(bindings);
      if (typeof value === 'boolean') return value;
      throw new CelFailure(`${excerpt(text)} is neither true nor false`);
    },
  };
}

function failure(text: string, parsed: Parsed, error: Error & { exprId: bigint | undefined }): CelFailure {
  const place = error.exprId === undefined ? '' : `, at character ${positionOf(text, parsed, error.exprId)}`;
  const reason = error.message === 'unresolved attribute' ? 'there is no value' : error.message;
  return new CelFailure(`${excerpt(text)}: ${reason}${place}`);
}

/** The start of an expression on one line, for messages. */
function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}
