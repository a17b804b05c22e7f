// Checks an expression at compile time: names, types of arguments and operands, and size. It also expands macros.

import { type CelType, isCelError, listType, mapType, plan } from '@bufbuild/cel';
import { startBudget } from './cost-budget.ts';
import type { Environment } from './environment.ts';
import { CelError, type CelErrorCode } from './errors.ts';
import { literalProblem } from './literals.ts';
import { expandMacro, growInPlace } from './macros.ts';
import { isFunctionName, TYPE_NAMES, unknownFunction, unknownVariable, variableOf } from './names.ts';
import { NESTING_MAX } from './nesting.ts';
import { callKind, chainOf, identKind, inPlaceOf, intKind, type NodeOf } from './nodes.ts';
import { type Expr, type Parsed, positionOf } from './parse.ts';
import { constantType, resultType, type TypeResult } from './signatures.ts';
import { BOOL, common, DYN, describeType, elementOf, INT, STRING, TYPE, UINT } from './types.ts';

/** The most nodes of an expression after the expansion of macros. */
const PARTS_MAX = 2_000;
/** The most nested loops. */
const LOOPS_MAX = 2;

/** The variable of a loop, within its scope. */
interface Scope {
  name: string;
  type: CelType;
  loops: number;
  outer: Scope | undefined;
}

/** A checked expression. */
export interface Checked {
  /** The type of the value; `dyn` when it is unknown before the evaluation. */
  type: CelType;
  hasLoops: boolean;
  /** The full names of the variables that it reads. */
  variables: ReadonlySet<string>;
}

/** Checks an expression and prepares it for evaluation. @throws {CelError} the first mistake. */
export function checkExpression(text: string, parsed: Parsed, environment: Environment): Checked {
  const check = new Check(text, parsed, environment);
  const type = check.visit(parsed.expr, undefined);
  return { type, hasLoops: check.hasLoops, variables: check.variables };
}

class Check {
  hasLoops = false;
  readonly variables = new Set<string>();
  readonly #text: string;
  readonly #parsed: Parsed;
  readonly #environment: Environment;
  readonly #types = new Map<Expr, CelType>();
  #parts = 0;
  #depth = 0;

  constructor(text: string, parsed: Parsed, environment: Environment) {
    this.#text = text;
    this.#parsed = parsed;
    this.#environment = environment;
  }

  visit(expr: Expr | undefined, scope: Scope | undefined): CelType {
    if (!expr) return DYN;
    if (++this.#parts > PARTS_MAX) this.#fail('limit', expr, `has more than ${PARTS_MAX} parts: make several of it`);
    if (++this.#depth > NESTING_MAX) this.#fail('limit', expr, `is nested deeper than ${NESTING_MAX} levels`);
    const type = this.#typeOf(expr, scope);
    this.#types.set(expr, type);
    this.#depth--;
    return type;
  }

  #typeOf(expr: Expr, scope: Scope | undefined): CelType {
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'constExpr':
        return this.#known(expr, constantType(exprKind.value));
      case 'identExpr':
        return this.#name(expr, scope);
      case 'selectExpr':
        return exprKind.value.testOnly ? this.#hasField(expr, exprKind.value, scope) : this.#name(expr, scope);
      case 'callExpr':
        return this.#call(expr, exprKind.value, scope);
      case 'listExpr':
        return listType(common(exprKind.value.elements.map((element) => this.visit(element, scope))));
      case 'structExpr':
        return this.#map(expr, exprKind.value, scope);
      case 'comprehensionExpr':
        return this.#loop(expr, exprKind.value, scope);
      default:
        return this.#fail('syntax', expr, 'cannot be read');
    }
  }

  #map(expr: Expr, { messageName, entries }: NodeOf<'structExpr'>, scope: Scope | undefined): CelType {
    if (messageName !== '')
      this.#fail('unknown', expr, `makes a ${messageName}, and there are no such types: a map is { 'name': value }`);
    const keys = entries.map(({ keyKind }) => this.visit(keyKind.value as Expr, scope));
    const values = entries.map(({ value }) => this.visit(value, scope));
    const key = common(keys);
    const isKey = key === INT || key === UINT || key === BOOL || key === STRING;
    return mapType(isKey ? key : DYN, common(values));
  }

  /** Checks `a`, `a.b` and `f(x).a`. A variable such as `req.url.path` becomes one name, which is looked up in one step. */
  #name(expr: Expr, scope: Scope | undefined): CelType {
    const chain = chainOf(expr);
    if (!chain) {
      const { operand, field } = expr.exprKind.value as NodeOf<'selectExpr'>;
      return this.#field(expr, this.visit(operand, scope), field);
    }
    const { names, parts } = chain;
    this.#checkLength(expr, names);
    const local = inScope(scope, names[0] as string);
    const variable = local ? undefined : variableOf(this.#environment.vocabulary, names);
    if (variable) this.variables.add(variable.name);
    if (variable)
      Object.assign(parts[variable.length - 1] as Expr, inPlaceOf(parts[0] as Expr, identKind(variable.name)));
    const found = local ? { type: local.type, length: 1 } : variable;
    if (!found) {
      if (TYPE_NAMES.has(names.join('.'))) return TYPE;
      return this.#unknown(parts[0] as Expr, names);
    }
    return parts.slice(found.length).reduce((type, part, i) => {
      const field = names[found.length + i] as string;
      if (variable && type.kind === 'scalar' && type !== DYN) this.#unknown(parts[0] as Expr, names, type);
      return this.#field(part, type, field);
    }, found.type);
  }

  #field(expr: Expr, type: CelType, field: string): CelType {
    if (type === DYN) return DYN;
    if (type.kind === 'map') return type.value;
    return this.#fail('type', expr, `takes .${field} of ${describeType(type)}, which has no fields`);
  }

  #unknown(expr: Expr, names: readonly string[], of?: CelType): never {
    this.#fail('unknown', expr, unknownVariable(this.#environment.vocabulary, names, of));
  }

  /** Checks `has(a.b)`. For a variable it tests whether the variable has a value. */
  #hasField(expr: Expr, select: NodeOf<'selectExpr'>, scope: Scope | undefined): CelType {
    const chain = chainOf(expr);
    this.#checkLength(expr, chain?.names);
    if (chain && !inScope(scope, chain.names[0] as string)) {
      const variable = variableOf(this.#environment.vocabulary, chain.names);
      if (!variable) this.#unknown(chain.parts[0] as Expr, chain.names);
      this.variables.add(variable.name);
      if (variable.length === chain.names.length) {
        const absent = inPlaceOf(expr, callKind('@absent', [inPlaceOf(expr, identKind(variable.name))]));
        const isNotFalse = inPlaceOf(expr, callKind('@not_strictly_false', [absent]));
        expr.exprKind = callKind('!_', [isNotFalse]);
        return BOOL;
      }
      if (variable.type.kind === 'scalar' && variable.type !== DYN)
        this.#unknown(chain.parts[0] as Expr, chain.names, variable.type);
    }
    this.#field(expr, this.visit(select.operand, scope), select.field);
    return BOOL;
  }

  #call(expr: Expr, written: NodeOf<'callExpr'>, scope: Scope | undefined): CelType {
    const { env, vocabulary } = this.#environment;
    const call = expandMacro(expr, written);
    const target = call.target && chainOf(call.target)?.names;
    this.#checkLength(expr, target);
    const namespace = target?.join('.');
    const qualified = `${namespace}.${call.function}`;
    const isQualified = namespace !== undefined && env.funcs.find(qualified) !== undefined;
    const name = isQualified ? qualified : call.function;
    const forms = env.funcs.find(name);
    if (!forms && isFunctionName(name))
      this.#fail('unknown', expr, unknownFunction(env.funcs, vocabulary, name, namespace));

    const implied =
      (isQualified || !call.target) && Object.hasOwn(vocabulary.contextual, name)
        ? vocabulary.contextual[name]
        : undefined;
    if (implied) call.args.unshift(inPlaceOf(expr, identKind(implied)));
    const receiver = call.target && !isQualified ? this.visit(call.target, scope) : undefined;
    const args = call.args.map((arg) => this.visit(arg, scope));
    const problem = literalProblem(name, call.args);
    if (problem) this.#fail(problem.code, problem.expr, problem.message);
    const type = this.#known(expr, resultType(name, forms ?? [], receiver, args, implied ? 1 : 0));
    if (forms) this.#tryConstant(expr, receiver ? [call.target as Expr, ...call.args] : call.args);
    return type;
  }

  /** Evaluates a call whose arguments are constants, as `timestamp('yesterday')` always fails. */
  #tryConstant(expr: Expr, operands: readonly Expr[]): void {
    if (operands.length === 0 || operands.some(({ exprKind }) => exprKind.case !== 'constExpr')) return;
    startBudget(this);
    const result = plan(this.#environment.env, expr)();
    if (isCelError(result)) this.#fail('type', expr, `cannot be: ${result.message}`);
  }

  #loop(expr: Expr, loop: NodeOf<'comprehensionExpr'>, scope: Scope | undefined): CelType {
    this.hasLoops = true;
    const loops = (scope?.loops ?? 0) + 1;
    if (loops > LOOPS_MAX)
      this.#fail('limit', expr, `has more than ${LOOPS_MAX} loops (exists, map, …) within each other`);
    const range = loop.iterRange as Expr;
    const type = this.visit(range, scope);
    const element = elementOf(type);
    if (!element) this.#fail('type', range, `goes through ${describeType(type)}: only lists and maps have elements`);
    this.#checkLocal(expr, loop.iterVar);
    const before = this.#parts;
    const added = growInPlace(loop);
    const made: Scope = {
      name: loop.accuVar,
      type: this.visit(loop.accuInit, scope),
      loops: loops - 1,
      outer: scope,
    };
    const inner: Scope = { name: loop.iterVar, type: element, loops, outer: made };
    this.visit(loop.loopCondition, inner);
    this.visit(loop.loopStep, inner);
    const result = this.visit(loop.result, made);
    const parts = inPlaceOf(expr, intKind(this.#parts - before));
    loop.iterRange = inPlaceOf(range, callKind('@each', [range, parts]));
    loop.loopCondition = inPlaceOf(expr, callKind('@going', [loop.loopCondition as Expr]));
    return added ? listType(this.#types.get(added) ?? DYN) : result;
  }

  #checkLength(expr: Expr, chain: readonly string[] | undefined): void {
    if (chain && chain.length > NESTING_MAX) this.#fail('limit', expr, `goes deeper than ${NESTING_MAX} names`);
  }

  #known(expr: Expr, outcome: TypeResult): CelType {
    return 'wrong' in outcome ? this.#fail('type', expr, outcome.wrong) : outcome;
  }

  #checkLocal(expr: Expr, name: string): void {
    for (const variable of Object.keys(this.#environment.vocabulary.variables))
      if (variable === name || variable.startsWith(`${name}.`))
        this.#fail('unknown', expr, `calls an element ${name}, which means something already: take another name, as x`);
  }

  #fail(code: CelErrorCode, expr: Expr, message: string): never {
    throw new CelError(code, positionOf(this.#text, this.#parsed, expr.id), message);
  }
}

function inScope(scope: Scope | undefined, name: string): Scope | undefined {
  for (let at = scope; at; at = at.outer) if (at.name === name) return at;
  return undefined;
}
