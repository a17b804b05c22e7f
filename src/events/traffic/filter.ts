// Filters of traffic events: expressions in CEL on `ev`, the object of the event. A member is read from the report only when an
// expression uses it, so that no object is made just for the filter. This file is imported when a gateway has its first
// filter, because the language takes time and memory to load.

import type { CelInput, CelType } from '@bufbuild/cel';
import { HeaderList } from '../../http/header-list.ts';
import { EVALUATION_COST_MAX, spend, startBudget } from '../../policy/cel/cost-budget.ts';
import { CelError, CelFailure } from '../../policy/cel/errors.ts';
import { compileCondition } from '../../policy/cel/expression.ts';
import { BOOL, INT, LIST, STRING, TIMESTAMP } from '../../policy/cel/types.ts';
import { fieldMap } from '../../policy/cel/variables/field-map.ts';
import { timestamp } from '../../policy/cel/variables/times.ts';
import { TEXTS_BY_NAME } from '../../policy/cel/variables/variable.ts';
import type { Bindings, Vocabulary } from '../../policy/cel/vocabulary.ts';
import type { FieldType } from './fields.ts';
import { hideSecrets } from './headers.ts';
import type { FieldValues, ObjectShape } from './report-fields.ts';

/**
 * The cost limit of one evaluation, in the units of src/policy/cel/cost-budget.ts. It is about a millisecond, a hundredth of what
 * policies may take, because the visitors of all other accounts wait for it.
 */
const FILTER_WORK_MAX = 3000;

/** Whether an event is to be delivered. @throws {CelFailure} when the expression fails. */
export type FilterTest<R> = (report: R) => boolean;

/** How each type of value appears in expressions. Timestamps are CEL timestamps, so that expressions can compute with them. */
const CEL_TYPES: { readonly [T in FieldType]: { type: CelType; convert(value: FieldValues[T]): CelInput } } = {
  string: { type: STRING, convert: (value) => value },
  number: { type: INT, convert: BigInt },
  boolean: { type: BOOL, convert: (value) => value },
  timestamp: { type: TIMESTAMP, convert: timestamp },
  headers: { type: TEXTS_BY_NAME, convert: (fields) => fieldMap(new HeaderList(hideSecrets(fields))) },
  list: { type: LIST, convert: (list) => list as unknown as CelInput },
};

interface FilterLanguage<R> {
  vocabulary: Vocabulary;
  bind(report: R): Bindings;
}

/** Each is made when the first filter of its objects is compiled. */
const languages = new WeakMap<object, unknown>();

/** What is wrong with a filter, and where; undefined when it is valid. The empty filter is valid and matches every event. */
export function checkFilter(text: string, shape: ObjectShape<never>): string | undefined {
  if (text === '') return undefined;
  try {
    compileFilter(text, shape);
    return undefined;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return `cannot be read at character ${error.position + 1}: ${error.message}`;
  }
}

/** Compiles a filter. @throws {CelError} when it is not valid. */
export function compileFilter<R>(text: string, shape: ObjectShape<R>): FilterTest<R> {
  const { vocabulary, bind } = languageOf(shape);
  const condition = compileCondition(text, vocabulary).test;
  return (report) => {
    const bindings = bind(report);
    startBudget(bindings);
    spend(EVALUATION_COST_MAX - FILTER_WORK_MAX);
    return condition(bindings);
  };
}

/** A filter that is compiled when it is used for the first time. */
export class TrafficFilter<R> {
  readonly text: string;
  readonly #shape: ObjectShape<R>;
  #test: FilterTest<R> | undefined;

  constructor(text: string, shape: ObjectShape<R>) {
    this.text = text;
    this.#shape = shape;
  }

  /** Whether the filter matches; undefined when it fails for any reason. The event is then not delivered. */
  matches(report: R): boolean | undefined {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // A stack trace costs several times the evaluation, and nobody reads it.
    try {
      this.#test ??= this.#compile();
      return this.#test(report);
    } catch {
      return undefined;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  /** A stored filter that no longer compiles is not compiled again for every event. */
  #compile(): FilterTest<R> {
    try {
      return compileFilter(this.text, this.#shape);
    } catch (error) {
      return () => {
        throw new CelFailure(String(error));
      };
    }
  }
}

function languageOf<R>(shape: ObjectShape<R>): FilterLanguage<R> {
  const known = languages.get(shape) as FilterLanguage<R> | undefined; // Only a language of the same objects is there.
  if (known) return known;
  const language = newLanguage(shape);
  languages.set(shape, language);
  return language;
}

function newLanguage<R>(shape: ObjectShape<R>): FilterLanguage<R> {
  const members = Object.entries(shape.fields);
  const variables: Record<string, CelType> = {};
  for (const [path, { type }] of members) variables[`ev.${path}`] = CEL_TYPES[type].type;

  class ReportBindings {
    readonly #report: R;

    constructor(report: R) {
      this.#report = report;
    }

    static {
      for (const [path, member] of members) {
        const read = member.read as (report: R) => unknown;
        const convert = CEL_TYPES[member.type].convert as (value: unknown) => CelInput;
        const get = function (this: ReportBindings) {
          const value = read(this.#report);
          return value === undefined ? undefined : convert(value);
        };
        Object.defineProperty(ReportBindings.prototype, `ev.${path}`, { get, enumerable: true });
      }
      Reflect.deleteProperty(ReportBindings.prototype, 'constructor');
      Object.setPrototypeOf(ReportBindings.prototype, null);
    }
  }

  return {
    vocabulary: { variables, missing: {}, functions: [], contextual: {} },
    bind: (report) => new ReportBindings(report) as unknown as Bindings,
  };
}
