// Checks literal arguments at compile time, which a function would only check when it is called.

import type { CelErrorCode } from './errors.ts';
import { TIME_METHODS, zoneOffset } from './functions/times.ts';
import { literalText } from './nodes.ts';
import type { Expr } from './parse.ts';
import { compilePattern, RegexError } from './regex.ts';
import { SECRET_FUNCTION } from './secret-names.ts';

/** A mistake in a literal argument. */
export interface LiteralProblem {
  code: CelErrorCode;
  expr: Expr;
  message: string;
}

/** The mistake in the literal arguments of a call; undefined when there is none. */
export function literalProblem(name: string, args: readonly Expr[]): LiteralProblem | undefined {
  if (name === 'matches') return patternProblem(args.at(-1));
  if (name === SECRET_FUNCTION) return secretNameProblem(args);
  if (TIME_METHODS.has(name)) return zoneProblem(args[0]);
  return undefined;
}

function patternProblem(expr: Expr | undefined): LiteralProblem | undefined {
  const pattern = literalText(expr);
  if (!expr || pattern === undefined) return undefined;
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    return { code: 'regex', expr, message: `has a pattern that ${error.message}` };
  }
}

function zoneProblem(expr: Expr | undefined): LiteralProblem | undefined {
  const zone = literalText(expr);
  if (!expr || zone === undefined) return undefined;
  try {
    zoneOffset(zone, new Date(0));
    return undefined;
  } catch (error) {
    return { code: 'type', expr, message: (error as Error).message };
  }
}

/**
 * The mistake in the arguments of `secrets.get`: they must be texts, so that it is known which secrets a policy reads.
 * @param args with the implicit one.
 */
function secretNameProblem(args: readonly Expr[]): LiteralProblem | undefined {
  const expr = args.slice(1).find((arg) => literalText(arg) === undefined);
  if (!expr) return undefined;
  return { code: 'type', expr, message: "must name its secret in quotes, as in secrets.get('vault', 'secret')" };
}
