// The functions and macros that expressions have, each with what it makes of something.

import { CelScalar, celFunc, listType, mapType } from '@bufbuild/cel';
import { describe, expect, test } from 'vitest';
import { CelError, CelFailure } from '../../../src/policy/cel/errors.ts';
import { compileCondition, compileExpression } from '../../../src/policy/cel/expression.ts';
import type { Bindings, Vocabulary } from '../../../src/policy/cel/vocabulary.ts';
import { shown } from './conformance.ts';
import { VECTORS } from './vectors.ts';

const { DYN, INT, STRING } = CelScalar;
const NOTHING: Vocabulary = { variables: {}, missing: {}, functions: [], contextual: {} };

function outcome(expression: string): string {
  try {
    return shown(compileExpression(expression, NOTHING).evaluate({}));
  } catch (error) {
    // What is made of constants alone is refused at once.
    if (error instanceof CelFailure || (error instanceof CelError && error.code === 'type')) return 'error';
    throw error;
  }
}

test.each(Object.entries(VECTORS))('functions for %s make what they should', (_, vectors) => {
  const wrong = vectors.map(([expression, wanted]) => ({ expression, wanted, got: outcome(expression) }));
  expect(wrong.filter(({ wanted, got }) => wanted !== got)).toEqual([]);
});

describe('variables', () => {
  const vocabulary: Vocabulary = {
    variables: {
      'req.method': STRING,
      'req.url': STRING,
      'req.url.path': STRING,
      'req.url.port': INT,
      'req.headers': mapType(STRING, listType(STRING)),
      vars: mapType(STRING, DYN),
    },
    missing: {},
    functions: [celFunc('firstOf', [mapType(DYN, DYN), STRING], STRING, (map, name) => `${name} of ${map.size}`)],
    contextual: { firstOf: 'req.headers' },
  };
  const bindings: Bindings = {
    'req.method': 'GET',
    'req.url': 'http://host/path',
    'req.url.path': '/path',
    'req.headers': { accept: ['a', 'b'] },
    vars: { user: { name: 'ann' } },
  };

  test('with a name that is a value and has others below it are told apart', () => {
    expect(compileExpression('req.url + " " + req.url.path', vocabulary).evaluate(bindings)).toBe(
      'http://host/path /path',
    );
  });

  test.each([
    ['has(req.method)', true],
    ['has(req.url.port)', false],
    ['has(req.headers.accept)', true],
    ["has(req.headers['host'])", false],
    ['has(vars.user.name) && vars.user.name == "ann"', true],
    ['has(vars.other)', false],
  ])('that may be without a value are asked with %s', (expression, wanted) => {
    expect(compileCondition(expression, vocabulary).test(bindings)).toBe(wanted);
  });

  test('without a value make an expression fail, with its text and the place', () => {
    const { evaluate } = compileExpression('1 + req.url.port', vocabulary);
    expect(() => evaluate(bindings)).toThrow(new CelFailure('1 + req.url.port: there is no value, at character 4'));
  });

  test('are given to functions that see one which is not written', () => {
    expect(compileExpression("firstOf('accept')", vocabulary).evaluate(bindings)).toBe('accept of 1');
  });

  test('are read only when they are needed', () => {
    const lazy = Object.defineProperty({ 'req.method': 'GET' }, 'req.url', {
      get() {
        throw new Error('was read');
      },
    });
    const condition = compileCondition("req.method == 'GET' || req.url == ''", vocabulary).test;
    expect(condition(lazy as Bindings)).toBe(true);
  });

  test('and functions of one vocabulary are not in another', () => {
    expect(() => compileExpression("firstOf('x')", NOTHING)).toThrow('calls firstOf, and there is no such function');
  });
});

test('a condition that is neither true nor false when it is asked is an error, not false', () => {
  const vocabulary = { ...NOTHING, variables: { value: DYN } };
  expect(() => compileCondition('value', vocabulary).test({ value: 'yes' })).toThrow('value is neither true nor false');
  expect(compileCondition('value', vocabulary).test({ value: false })).toBe(false);
});
