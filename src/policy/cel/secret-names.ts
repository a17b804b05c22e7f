// The secrets that an expression reads, found in its syntax tree.

import { literalText } from './nodes.ts';
import type { Expr } from './parse.ts';

/** The function that reads a secret. */
export const SECRET_FUNCTION = 'secrets.get';
/** The variable that is its first, implicit argument: the secrets of the account. No expression can write this name. */
export const SECRETS_VARIABLE = '@secrets';

/** A secret, as a policy names it. */
export interface SecretName {
  vault: string;
  name: string;
}

/** The secrets that an expression names. It must be checked: then it is not nested too deep, and calls have the implicit argument. */
export function secretNamesIn(expr: Expr | undefined): SecretName[] {
  const { exprKind } = expr ?? {};
  switch (exprKind?.case) {
    case 'callExpr': {
      const { target, args, function: called } = exprKind.value;
      const [vault, name] = args.slice(1).map(literalText);
      const isSecret = called === 'get' && target?.exprKind.case === 'identExpr' && isNamespace(target);
      const own = isSecret && vault !== undefined && name !== undefined ? [{ vault, name }] : [];
      return [...own, ...secretNamesIn(target), ...args.flatMap(secretNamesIn)];
    }
    case 'selectExpr':
      return secretNamesIn(exprKind.value.operand);
    case 'listExpr':
      return exprKind.value.elements.flatMap(secretNamesIn);
    case 'structExpr':
      return exprKind.value.entries.flatMap(({ keyKind, value }) => [
        ...(keyKind.case === 'mapKey' ? secretNamesIn(keyKind.value) : []),
        ...secretNamesIn(value),
      ]);
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return [iterRange, accuInit, loopCondition, loopStep, result].flatMap(secretNamesIn);
    }
    default:
      return [];
  }
}

function isNamespace({ exprKind }: Expr): boolean {
  return exprKind.case === 'identExpr' && exprKind.value.name === 'secrets';
}
