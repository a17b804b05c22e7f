// The public suite of CEL against what expressions are evaluated with here.

import { type CelEnv, CelScalar, celEnv, parse, plan } from '@bufbuild/cel';
import { describe, expect, test } from 'vitest';
import { ENVIRONMENT } from '../../../src/policy/cel/environment.ts';
import { CelError, CelFailure } from '../../../src/policy/cel/errors.ts';
import { compileExpression } from '../../../src/policy/cel/expression.ts';
import type { Vocabulary } from '../../../src/policy/cel/vocabulary.ts';
import { type Case, casesOf, outcomeOf } from './conformance.ts';

/** Files of the suite, and how many of its cases are about what policies have. */
const FILES: Record<string, number> = {
  basic: 43,
  comparisons: 334,
  conversions: 109,
  dynamic: 2,
  fields: 60,
  fp_math: 30,
  integer_math: 64,
  lists: 39,
  logic: 30,
  macros: 44,
  namespace: 3,
  parse: 193,
  plumbing: 5,
  string: 51,
  timestamps: 73,
};

const NO_BACK_QUOTES = 'the parser does not know fields in back quotes: map["a-b"] says the same';

/** Cases that come out in another way, and why they may. */
const KNOWN: Record<string, string> = {
  'fields/quoted_map_fields/field_access_slash': NO_BACK_QUOTES,
  'fields/quoted_map_fields/field_access_dash': NO_BACK_QUOTES,
  'fields/quoted_map_fields/field_access_dot': NO_BACK_QUOTES,
  'fields/quoted_map_fields/has_field_slash': NO_BACK_QUOTES,
  'fields/quoted_map_fields/has_field_dash': NO_BACK_QUOTES,
  'fields/quoted_map_fields/has_field_dot': NO_BACK_QUOTES,
  'fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous':
    'a map that is written with the keys 0 and 0u keeps both: nobody writes that',
};

/** Cases with a value that the checker refuses: they show what CEL does with mistakes that were not found before. */
const REFUSED =
  /^(basic\/\w+\/unbound_is|dynamic\/value_null\/|fields\/quoted_|logic\/\w+\/short_circuit_|parse\/receiver_)/;

const environments = new Map<string, CelEnv>();

function environmentIn(namespace: string): CelEnv {
  const made = environments.get(namespace) ?? celEnv({ ...ENVIRONMENT, namespace });
  environments.set(namespace, made);
  return made;
}

function evaluated({ expression, container, bindings }: Case): string | undefined {
  try {
    return outcomeOf(plan(environmentIn(container), parse(expression))(bindings));
  } catch {
    return undefined; // It cannot be parsed.
  }
}

const NOTHING: Vocabulary = { variables: {}, missing: {}, functions: [], contextual: {} };

function compiled({ expression, bindings }: Case): string | undefined | 'refused' {
  const names = Object.keys(bindings);
  const variables = Object.fromEntries(names.map((name) => [name, CelScalar.DYN]));
  try {
    const { evaluate } = compileExpression(expression, names.length > 0 ? { ...NOTHING, variables } : NOTHING);
    return outcomeOf(evaluate(bindings));
  } catch (error) {
    if (error instanceof CelFailure) return undefined;
    if (error instanceof CelError) return 'refused';
    throw error;
  }
}

describe.each(Object.entries(FILES))('the cases in %s', (file, count) => {
  const cases = casesOf(file).map((one) => ({ ...one, outcome: evaluated(one) }));

  test(`come out as the suite says, all ${count}, but for the known ones`, () => {
    const others = cases.filter((one) => one.outcome !== one.expected?.text).map(({ name }) => `${file}/${name}`);
    expect(others).toEqual(Object.keys(KNOWN).filter((name) => name.startsWith(`${file}/`)));
    expect(cases.length).toBe(count);
  });

  test('come out the same once they are checked and rewritten, or are refused where they are mistakes', () => {
    const wrong = cases
      .filter(({ container }) => container === '')
      .filter((one) => {
        const got = compiled(one);
        if (got === 'refused') return one.expected && !REFUSED.test(`${file}/${one.name}`);
        return got !== one.outcome;
      });
    expect(wrong.map(({ name, expression }) => `${name}: ${expression}`)).toEqual([]);
  });
});
