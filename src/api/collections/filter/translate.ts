// Filters of lists: expressions in CEL on `obj`, a row as REST shows it, become conditions of the database. What the database
// cannot decide is refused, never decided row by row. This file is imported when a gateway has its first filter, because
// the language takes time and memory to load.

import { CelError } from '../../../policy/cel/errors.ts';
import { chainOf, literalText, type NodeOf } from '../../../policy/cel/nodes.ts';
import { type Expr, type Parsed, parseExpression, positionOf } from '../../../policy/cel/parse.ts';
import { ApiError } from '../../errors/errors.ts';
import { camelCase } from '../../naming.ts';
import { type ListMembers, namesOf } from '../members.ts';
import {
  and,
  type Comparison,
  type Constant,
  compare,
  FILTER_COMPARISONS_MAX,
  FILTER_LEVELS_MAX,
  hasText,
  includes,
  isEmpty,
  isOneOf,
  isPresent,
  isTextFunction,
  type MemberUse,
  NotComparable,
  not,
  or,
  type RowCondition,
} from './conditions.ts';
import { constantsOf, type FilterNames, isConstant } from './constants.ts';
import { inputNameOf } from './where.ts';

const TEXT_MAX_BYTES = 4096;

/** Comparisons, and what each is with its sides exchanged. */
const FLIPPED: Record<string, Comparison> = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
/** Comparisons of a size that say whether there is anything: the only ones that an index need not count for. */
const EMPTY = new Set(['== 0', '<= 0', '< 1']);
const NOT_EMPTY = new Set(['!= 0', '> 0', '>= 1']);
const KNOWN_FUNCTIONS = 'startsWith(), endsWith(), contains(), size(), has() and in';

/**
 * Translates a filter to a part of Prisma's `where`.
 * @throws {ApiError} saying where the mistake is and what would be right.
 */
export function translateFilter(text: string, members: ListMembers, names: FilterNames): RowCondition {
  if (Buffer.byteLength(text) > TEXT_MAX_BYTES) throw mistake(0, `at most ${TEXT_MAX_BYTES} bytes are possible`);
  try {
    const parsed = parseExpression(text);
    return new Translation(text, parsed, members, constantsOf(names)).condition(parsed.expr as Expr, 0);
  } catch (error) {
    if (error instanceof CelError) throw mistake(error.position, error.message);
    throw error;
  }
}

function mistake(position: number, reason: string): ApiError {
  return new ApiError('badListFilter', { member: 'filter', position: position + 1, reason });
}

class Translation {
  readonly #text: string;
  readonly #parsed: Parsed;
  readonly #members: ListMembers;
  /** The names of members in GraphQL, `createdAt` or `owner.id` or `ownerId`, with those that REST has. */
  readonly #restNames: ReadonlyMap<string, string>;
  readonly #evaluate: (expr: Expr) => Constant;
  #comparisons = 0;

  constructor(text: string, parsed: Parsed, members: ListMembers, evaluate: (expr: Expr) => Constant) {
    this.#text = text;
    this.#parsed = parsed;
    this.#members = members;
    this.#restNames = new Map(
      Object.keys(members).flatMap((name) => [
        [camelCase(name), name],
        [inputNameOf(name), name],
      ]),
    );
    this.#evaluate = evaluate;
  }

  condition(expr: Expr, depth: number): RowCondition {
    if (depth > FILTER_LEVELS_MAX) this.#fail(expr, `is nested deeper than ${FILTER_LEVELS_MAX} levels`);
    const { case: kind, value } = expr.exprKind;
    if (kind === 'callExpr') {
      if (value.function === '_&&_') return and(this.#operands(expr, depth));
      if (value.function === '_||_') return or(this.#operands(expr, depth));
      if (value.function === '!_') return not(this.condition(value.args[0] as Expr, depth + 1));
    }
    if (++this.#comparisons > FILTER_COMPARISONS_MAX)
      this.#fail(expr, `has more than ${FILTER_COMPARISONS_MAX} comparisons`);
    if (isConstant(expr)) return this.#truth(expr);
    if (kind === 'callExpr') return this.#call(expr, value);
    if (kind === 'selectExpr' && value.testOnly) return this.#possible(expr, (use) => isPresent(use));
    return this.#possible(expr, (use) => compare(use, '==', true));
  }

  /** The operands of `a && b && c`: the parser nests them, which is no depth that anybody wrote. */
  #operands(expr: Expr, depth: number): RowCondition[] {
    const conditions: RowCondition[] = [];
    const { function: operator } = expr.exprKind.value as NodeOf<'callExpr'>;
    const open = [expr];
    for (let next = open.pop(); next; next = open.pop()) {
      const { case: kind, value } = next.exprKind;
      if (kind === 'callExpr' && value.function === operator) open.push(...value.args.toReversed());
      else conditions.push(this.condition(next, depth + 1));
    }
    return conditions;
  }

  #truth(expr: Expr): boolean {
    const value = this.#constant(expr);
    return typeof value === 'boolean' ? value : this.#fail(expr, 'is neither true nor false: compare it with a member');
  }

  #call(expr: Expr, { function: name, target, args }: NodeOf<'callExpr'>): RowCondition {
    const [left, right] = args as [Expr, Expr];
    const comparison = /^_(==|!=|<=?|>=?)_$/.exec(name)?.[1] as Comparison | undefined;
    if (comparison) return this.#compare(expr, comparison, left, right);
    if (name === '@in') return this.#in(expr, left, right);
    if (target && isTextFunction(name)) {
      const text = this.#constant(left, `takes a constant text: ${name}("text")`);
      return this.#possible(target, (use) => hasText(use, name, text));
    }
    if (/^\w+$/.test(name))
      this.#fail(expr, `uses ${name}(), which the database cannot look up by; there are ${KNOWN_FUNCTIONS}`);
    return this.#fail(expr, 'computes with members, which the database cannot look up by: compare them with constants');
  }

  #compare(expr: Expr, comparison: Comparison, left: Expr, right: Expr): RowCondition {
    if (isConstant(left)) return this.#compare(expr, FLIPPED[comparison] as Comparison, right, left);
    const value = this.#constant(right, 'compares two members: one side has to be a constant');
    const { case: kind, value: call } = left.exprKind;
    if (kind !== 'callExpr' || call.function !== 'size')
      return this.#possible(left, (use) => compare(use, comparison, value));
    const wanted = `${comparison} ${value}`;
    if (!EMPTY.has(wanted) && !NOT_EMPTY.has(wanted))
      this.#fail(
        expr,
        'asks for a size: the database can look up only whether there is anything, as in size(member) > 0',
      );
    const empty = this.#possible((call.target ?? call.args[0]) as Expr, (use) => isEmpty(use));
    return EMPTY.has(wanted) ? empty : not(empty);
  }

  #in(expr: Expr, left: Expr, right: Expr): RowCondition {
    if (!isConstant(right)) {
      const value = this.#constant(left, 'looks for a member in a member: one side has to be a constant');
      return this.#possible(right, (use) => includes(use, value));
    }
    const values = this.#constant(right);
    if (!Array.isArray(values)) return this.#fail(expr, 'takes a list of constants: member in ["a", "b"]');
    return this.#possible(left, (use) => isOneOf(use, values));
  }

  #constant(expr: Expr, otherwise = 'has to be a constant'): Constant {
    if (!isConstant(expr)) this.#fail(expr, otherwise);
    try {
      return this.#evaluate(expr);
    } catch (error) {
      return this.#fail(expr, (error as Error).message);
    }
  }

  /** A condition on the member that an expression names. */
  #possible(expr: Expr, condition: (use: MemberUse) => RowCondition): RowCondition {
    const use = this.#memberOf(expr);
    try {
      return condition(use);
    } catch (error) {
      if (error instanceof NotComparable) this.#fail(expr, `${use.name} ${error.message}`);
      throw error;
    }
  }

  #memberOf(expr: Expr): MemberUse {
    const { case: kind, value } = expr.exprKind;
    const isElement = kind === 'callExpr' && value.function === '_[_]';
    const key = isElement ? literalText(value.args[1]) : undefined;
    const chain = chainOf(isElement ? (value.args[0] as Expr) : expr);
    if (!chain || (isElement && key === undefined))
      return this.#fail(expr, 'is not the name of a member; compare a member with a constant, as in obj.id == "…"');
    const names = chain.names[0] === 'obj' ? chain.names.slice(1) : chain.names;
    const name = names.join('.');
    const use =
      this.#use(name, key) ?? this.#use(`${name}.id`, key) ?? this.#use(names.slice(0, -1).join('.'), names.at(-1));
    return use ?? this.#fail(expr, `names ${name || 'obj'}, which is no member; there are ${namesOf(this.#members)}`);
  }

  #use(name: string, key?: string): MemberUse | undefined {
    const known = Object.hasOwn(this.#members, name) ? name : (this.#restNames.get(name) ?? '');
    const member = Object.hasOwn(this.#members, known) ? this.#members[known] : undefined;
    if (!member || key === undefined) return member && { member, name };
    return member.type === 'labels' ? { member, name, key } : undefined;
  }

  #fail(expr: Expr, reason: string): never {
    throw mistake(positionOf(this.#text, this.#parsed, beginningOf(expr).id), reason);
  }
}

/** The node with which the text of another begins: `obj` of `obj.id == "…"`. */
function beginningOf(expr: Expr): Expr {
  const { case: kind, value } = expr.exprKind;
  let first: Expr | undefined;
  if (kind === 'selectExpr' && !value.testOnly) first = value.operand;
  else if (kind === 'callExpr')
    first = value.target ?? (/^(_.*|@in)$/.test(value.function) ? value.args[0] : undefined);
  return first ? beginningOf(first) : expr;
}
