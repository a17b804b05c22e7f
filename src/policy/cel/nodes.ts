// Creates nodes that replace others in a syntax tree. They keep the id of the replaced node, so that errors have its
// position.

import type { Expr, ExprKind } from './parse.ts';

/** The content of a node of one kind. */
export type NodeOf<Case extends ExprKind['case']> = Extract<ExprKind, { case: Case }>['value'];

export const identKind = (name: string): ExprKind => ({
  case: 'identExpr',
  value: { $typeName: 'cel.expr.Expr.Ident', name },
});

export const callKind = (name: string, args: Expr[]): ExprKind => ({
  case: 'callExpr',
  value: { $typeName: 'cel.expr.Expr.Call', function: name, args },
});

export const listKind = (elements: Expr[]): ExprKind => ({
  case: 'listExpr',
  value: { $typeName: 'cel.expr.Expr.CreateList', elements, optionalIndices: [] },
});

export const intKind = (value: number): ExprKind => ({
  case: 'constExpr',
  value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'int64Value', value: BigInt(value) } },
});

/** Creates a node that replaces another. */
export function inPlaceOf(expr: Expr, exprKind: ExprKind): Expr {
  return { ...expr, exprKind };
}

/** The names in a chain `a.b.c`, and the node that ends with each; undefined for any other node. */
export function chainOf(expr: Expr): { names: string[]; parts: Expr[] } | undefined {
  const names: string[] = [];
  const parts: Expr[] = [];
  for (let part: Expr | undefined = expr; part; ) {
    parts.push(part);
    const kind: ExprKind = part.exprKind;
    if (kind.case === 'identExpr') {
      names.push(kind.value.name.replace(/^\./, ''));
      return { names: names.reverse(), parts: parts.reverse() };
    }
    if (kind.case !== 'selectExpr' || (kind.value.testOnly && part !== expr)) return undefined;
    names.push(kind.value.field);
    part = kind.value.operand;
  }
  return undefined;
}

/** The value of a text literal; undefined for any other node. */
export function literalText(expr: Expr | undefined): string | undefined {
  const kind = expr?.exprKind;
  if (kind?.case !== 'constExpr' || kind.value.constantKind.case !== 'stringValue') return undefined;
  return kind.value.constantKind.value;
}
