// The types of operators and functions: whether they accept their arguments, and the type of their result.

import type { CelFunc, CelType } from '@bufbuild/cel';
import type { NodeOf } from './nodes.ts';
import {
  BOOL,
  BYTES,
  canEqual,
  common,
  DOUBLE,
  DYN,
  describeType,
  elementOf,
  fits,
  INT,
  isDyn,
  NULL,
  STRING,
  typeName,
  UINT,
} from './types.ts';

/** The type of a result, or the message of a type error. */
export type TypeResult = CelType | { wrong: string };

const INT_MAX = 2n ** 63n;

/** The type of a literal. */
export function constantType({ constantKind: { case: kind, value } }: NodeOf<'constExpr'>): TypeResult {
  const isOutside =
    (kind === 'int64Value' && (value >= INT_MAX || value < -INT_MAX)) ||
    (kind === 'uint64Value' && value >= 2n * INT_MAX);
  if (isOutside) return { wrong: 'has a number with too many digits: whole numbers have 64 bits' };
  return CONSTANTS[kind ?? ''] ?? NULL;
}

const CONSTANTS: Record<string, CelType> = {
  boolValue: BOOL,
  bytesValue: BYTES,
  doubleValue: DOUBLE,
  int64Value: INT,
  stringValue: STRING,
  uint64Value: UINT,
};

/** Operators that CEL does not treat as functions. */
const OPERATORS: Record<string, (types: CelType[]) => TypeResult> = {
  '_&&_': (types) => logic(types),
  '_||_': (types) => logic(types),
  '@not_strictly_false': () => BOOL,
  '_==_': (types) => equality(types),
  '_!=_': (types) => equality(types),
  '_?_:_': ([condition = DYN, ...results]) => (fits(condition, BOOL) ? common(results) : logic([condition])),
  '_[_]': ([value = DYN, key = DYN]) => element(value, key),
  '@in': ([value = DYN, container = DYN]) => {
    const inside = elementOf(container);
    if (!inside) return { wrong: `looks for a value in ${describeType(container)}: in takes a list or a map` };
    return canEqual(value, inside)
      ? BOOL
      : { wrong: `looks for ${describeType(value)} in ${describeType(container)}: it is never in there` };
  },
};

function logic(types: CelType[]): TypeResult {
  const other = types.find((type) => !fits(type, BOOL));
  return other ? { wrong: `has ${describeType(other)} where there must be true or false` } : BOOL;
}

function equality([left = DYN, right = DYN]: CelType[]): TypeResult {
  if (canEqual(left, right)) return BOOL;
  return { wrong: `compares ${describeType(left)} with ${describeType(right)}: they are never equal` };
}

function element(value: CelType, key: CelType): TypeResult {
  if (isDyn(value)) return DYN;
  if (value.kind === 'list')
    return canEqual(key, INT)
      ? value.element
      : { wrong: `takes element ${typeName(key)} of a list: elements have numbers, from [0]` };
  if (value.kind === 'map')
    return canEqual(key, value.key)
      ? value.value
      : { wrong: `looks up ${describeType(key)} in a map that has keys of type ${typeName(value.key)}` };
  return { wrong: `takes an element of ${describeType(value)}: only lists and maps have them` };
}

/**
 * The result type of an operator or a function.
 * @param overloads its signatures.
 * @param implied the number of implicit arguments, which the expression does not contain.
 */
export function resultType(
  name: string,
  overloads: Iterable<CelFunc>,
  target: CelType | undefined,
  args: CelType[],
  implied = 0,
): TypeResult {
  const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
  if (operator) return operator(args);
  const forms = [...overloads];
  const possible = forms.filter(
    (form) =>
      (form.target === undefined) === (target === undefined) &&
      (!form.target || !target || fits(target, form.target)) &&
      form.arguments.length === args.length &&
      form.arguments.every((wanted, i) => fits(args[i] as CelType, wanted)),
  );
  if (possible.length > 0) return common(possible.map((form) => form.result));
  if (!/^\w/.test(name) || name.startsWith('_')) return { wrong: `cannot be: ${operation(name, args)}` };
  const given = `${target ? `${typeName(target)}.` : ''}${name}(${args.slice(implied).map(typeName).join(', ')})`;
  const known = forms.map((form) => {
    const on = form.target ? `${typeName(form.target)}.` : '';
    return `${on}${name}(${form.arguments.slice(implied).map(typeName).join(', ')})`;
  });
  return { wrong: `cannot be: ${given}; there is ${[...new Set(known)].join(', ')}` };
}

/** Formats an operator `_+_` with its types, as in `string + int`. */
function operation(name: string, args: CelType[]): string {
  let next = 0;
  return name.replace(/_/g, () => ` ${typeName(args[next++] ?? DYN)} `).trim();
}
