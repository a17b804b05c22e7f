// Expands macros, which look like calls.

import { callKind, identKind, inPlaceOf, listKind, type NodeOf } from './nodes.ts';
import type { Expr, ExprKind } from './parse.ts';

/**
 * Expands `has(map['key'])` and `list.sortBy(x, x.key)`. The parser expands the other macros.
 * @returns the call that replaces the macro.
 */
export function expandMacro(expr: Expr, call: NodeOf<'callExpr'>): NodeOf<'callExpr'> {
  const kind = call.function === 'has' ? hasElement(call) : call.function === 'sortBy' ? sortBy(call) : undefined;
  if (kind?.case !== 'callExpr') return call;
  expr.exprKind = kind;
  return kind.value;
}

function hasElement({ target, args: [argument, ...others] }: NodeOf<'callExpr'>): ExprKind | undefined {
  const kind = argument?.exprKind;
  if (target || others.length > 0 || kind?.case !== 'callExpr' || kind.value.function !== '_[_]') return undefined;
  return callKind('@has', kind.value.args);
}

function sortBy({ target, args }: NodeOf<'callExpr'>): ExprKind | undefined {
  const [list, element, key, ...others] = target ? [target, ...args] : args;
  const kind = element?.exprKind;
  if (!list || !element || !key || others.length > 0 || kind?.case !== 'identExpr') return undefined;
  const pair = inPlaceOf(element, listKind([element, key]));
  return callKind('@sorted', [inPlaceOf(list, mapLoop(list, kind.value.name, pair))]);
}

/** Expands a macro that maps a list. @param element the expression for each element x. */
function mapLoop(range: Expr, variable: string, element: Expr): ExprKind {
  const part = (kind: ExprKind) => inPlaceOf(range, kind);
  const result = () => part(identKind('@result'));
  return {
    case: 'comprehensionExpr',
    value: {
      $typeName: 'cel.expr.Expr.Comprehension',
      accuVar: '@result',
      accuInit: part(listKind([])),
      iterVar: variable,
      iterVar2: '',
      iterRange: range,
      loopCondition: part({
        case: 'constExpr',
        value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'boolValue', value: true } },
      }),
      loopStep: part(callKind('_+_', [result(), part(listKind([element]))])),
      result: result(),
    },
  };
}

/**
 * Changes a loop that builds a list so that it appends in place. Otherwise each iteration would copy the list, which is
 * quadratic.
 * @returns the appended expression; undefined when the loop builds no list.
 */
export function growInPlace({ accuInit, loopStep }: NodeOf<'comprehensionExpr'>): Expr | undefined {
  if (accuInit?.exprKind.case !== 'listExpr') return undefined;
  const step = loopStep?.exprKind;
  if (step?.case !== 'callExpr') return undefined;
  const addition = step.value.function === '_?_:_' ? step.value.args[1] : loopStep;
  const kind = addition?.exprKind;
  if (!addition || kind?.case !== 'callExpr' || kind.value.function !== '_+_') return undefined;
  const [result, added] = kind.value.args;
  if (!result || added?.exprKind.case !== 'listExpr') return undefined;
  const element = added.exprKind.value.elements[0] as Expr;
  accuInit.exprKind = callKind('@list', []);
  addition.exprKind = callKind('@append', [result, element]);
  return element;
}
