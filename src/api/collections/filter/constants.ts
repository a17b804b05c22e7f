// The constant parts of a filter, such as `timestamp(time.now) - duration('24h')`: they are evaluated once, before the query.

import { type CelInput, type CelValue, celEnv, celFunc, celMethod, isCelError, isCelList, plan } from '@bufbuild/cel';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { type Timestamp, TimestampSchema, timestampMs } from '@bufbuild/protobuf/wkt';
import { EVALUATION_COST_MAX, spend, startBudget } from '../../../policy/cel/cost-budget.ts';
import { ENVIRONMENT } from '../../../policy/cel/environment.ts';
import { callKind, chainOf, identKind, inPlaceOf } from '../../../policy/cel/nodes.ts';
import type { Expr } from '../../../policy/cel/parse.ts';
import { INT, STRING, TIMESTAMP } from '../../../policy/cel/types.ts';
import { timestamp } from '../../../policy/cel/variables/times.ts';
import { type Constant, Time } from './conditions.ts';

/** What all constants of a filter may cost together, in the units of src/policy/cel/cost-budget.ts: about a millisecond. */
const COST_MAX = 3000;
const NOW = 'time.now';
/** What the values are called that come beside a filter: `vars.name`. */
const VARIABLES = 'vars';
const DAY_MS = 86_400_000;
const UNITS_MS: Record<string, number> = { d: DAY_MS, h: 3_600_000, m: 60_000, s: 1000 };
/** What existing clients write beside the functions of CEL: `now()`, `daysAgo(7)`, `timestamp(time.now).subtract('7d')`. */
const FUNCTIONS = [
  celFunc('timestamp', [TIMESTAMP], TIMESTAMP, (time) => time),
  celFunc('now', [TIMESTAMP], TIMESTAMP, (now) => now),
  celFunc('daysAgo', [TIMESTAMP, INT], TIMESTAMP, (now, days) => shifted(now.message, -Number(days) * DAY_MS)),
  celMethod('add', TIMESTAMP, [STRING], TIMESTAMP, function (span) {
    return shifted(this.message, spanOf(span));
  }),
  celMethod('subtract', TIMESTAMP, [STRING], TIMESTAMP, function (span) {
    return shifted(this.message, -spanOf(span));
  }),
];

/** What a filter may name beside the members of a row. */
export interface FilterNames {
  /** For `time.now`, in milliseconds since 1970. */
  now: number;
  /** For `vars`: any JSON values. */
  variables?: Readonly<Record<string, unknown>>;
}

let environment: ReturnType<typeof celEnv> | undefined;

/** Whether an expression names nothing but the time, and values that come beside the filter. */
export function isConstant(expr: Expr | undefined): boolean {
  if (!expr) return true;
  const { case: kind, value } = expr.exprKind;
  switch (kind) {
    case 'constExpr':
      return true;
    case 'identExpr':
    case 'selectExpr':
      return constantNameOf(expr) !== undefined;
    case 'callExpr':
      return isConstant(value.target) && value.args.every(isConstant);
    case 'listExpr':
      return value.elements.every(isConstant);
    default:
      return false;
  }
}

/** `time.now`, or `vars.name`; undefined for any other expression. */
function constantNameOf(expr: Expr): string | undefined {
  const names = chainOf(expr)?.names ?? [];
  const name = names.join('.');
  return name === NOW || (names.length === 2 && names[0] === VARIABLES) ? name : undefined;
}

/**
 * What evaluates the constant expressions of one filter.
 * @returns a function that throws an error saying why an expression has no value.
 */
export function constantsOf({ now, variables = {} }: FilterNames): (expr: Expr) => Constant {
  environment ??= celEnv({ ...ENVIRONMENT, funcs: [...ENVIRONMENT.funcs, ...FUNCTIONS] });
  const env = environment;
  const bindings: Record<string, CelInput> = { [NOW]: timestamp(now) };
  for (const [name, value] of Object.entries(variables)) bindings[`${VARIABLES}.${name}`] = celValueOf(value);
  startBudget(bindings);
  spend(EVALUATION_COST_MAX - COST_MAX);
  return (expr) => {
    const value = plan(env, withNames(expr, bindings))(bindings);
    if (isCelError(value)) throw new Error(value.message);
    return plain(value);
  };
}

/** JSON has one kind of number, CEL two: whole numbers are whole there, too. */
function celValueOf(value: unknown): CelInput {
  if (Array.isArray(value)) return value.map(celValueOf) as CelInput;
  return (Number.isSafeInteger(value) ? BigInt(value as number) : value) as CelInput;
}

/**
 * Makes one name of `time.now`, and of `vars.name`, and gives the time to the functions that need it.
 * @throws {Error} for a value that did not come.
 */
function withNames(expr: Expr, known: Readonly<Record<string, unknown>>): Expr {
  const inner = (part: Expr) => withNames(part, known);
  const { case: kind, value } = expr.exprKind;
  if (kind === 'selectExpr') {
    const name = constantNameOf(expr) ?? '';
    if (!Object.hasOwn(known, name)) throw new Error(`names ${name}, which is not among the values of filterVariables`);
    return inPlaceOf(expr, identKind(name));
  }
  if (kind === 'listExpr')
    return inPlaceOf(expr, { case: 'listExpr', value: { ...value, elements: value.elements.map(inner) } });
  if (kind !== 'callExpr') return expr;
  const args = value.args.map(inner);
  const isOfNow = !value.target && (value.function === 'now' || value.function === 'daysAgo');
  const call = callKind(value.function, isOfNow ? [inPlaceOf(expr, identKind(NOW)), ...args] : args);
  if (call.case === 'callExpr' && value.target) call.value.target = inner(value.target);
  return inPlaceOf(expr, call);
}

function plain(value: CelValue): Constant {
  if (value === null || ['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return value as Constant;
  if (isCelList(value)) return [...value].map((element) => plain(element as CelValue));
  if (isReflectMessage(value, TimestampSchema)) return timeOf(value.message as Timestamp);
  throw new Error('is a value that no member of an object has');
}

function shifted(time: unknown, ms: number): ReturnType<typeof timestamp> {
  const at = timestampMs(time as Timestamp) + ms;
  if (!(Math.abs(at) < 8.64e15)) throw new Error('is a time out of range');
  return timestamp(at);
}

function spanOf(text: string): number {
  if (!/^(\d{1,9}[dhms])+$/.test(text))
    throw new Error(`has no time span in "${text.slice(0, 40)}": one is written as 7d or 1h30m`);
  let span = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+)([dhms])/g)) span += Number(count) * (UNITS_MS[unit] ?? 0);
  return span;
}

function timeOf({ seconds, nanos }: Timestamp): Time {
  return new Time(Number(seconds), nanos === 0);
}
