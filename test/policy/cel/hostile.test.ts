// Expressions that somebody wrote to keep the gateway busy, about a request that somebody sent for the same reason. The time
// is that of this process's CPU, so that what else the machine does has no part in it.

import { CelScalar, listType, mapType } from '@bufbuild/cel';
import { expect, test } from 'vitest';
import { EVALUATION_COST_MAX } from '../../../src/policy/cel/cost-budget.ts';
import { CelError, CelFailure } from '../../../src/policy/cel/errors.ts';
import { compileExpression } from '../../../src/policy/cel/expression.ts';
import { compileTemplate } from '../../../src/policy/cel/template.ts';
import type { Bindings, Vocabulary } from '../../../src/policy/cel/vocabulary.ts';

/** Milliseconds for all that is evaluated about one request in one phase; on a free machine it is less than 100. */
const EVALUATE_MAX = 1_000;
/** Milliseconds to compile an expression of 8 KiB, or to refuse it; on a free machine it is less than 100. */
const COMPILE_MAX = 1_000;

const { DYN, STRING } = CelScalar;
const vocabulary: Vocabulary = {
  variables: {
    path: STRING,
    digits: STRING,
    'time.now': STRING,
    list: listType(STRING),
    headers: mapType(STRING, listType(STRING)),
    vars: mapType(STRING, DYN),
  },
  missing: {},
  functions: [],
  contextual: {},
};

/** As large as 32 KiB of a request's head can make it. */
const request = (): Bindings => ({
  path: `/${'a'.repeat(32 * 1024 - 1)}`,
  digits: '9'.repeat(32 * 1024),
  'time.now': '2026-11-21T16:00:00Z',
  list: Array.from({ length: 16_000 }, () => 'a'),
  headers: new Map(Array.from({ length: 4_000 }, (_, i) => [`h${i}`, [`v${i}`]])),
  vars: {},
});

function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** What an expression comes to: its value, or the class and the message of the error. */
function outcomeOf(work: () => unknown): string {
  try {
    return String(work());
  } catch (error) {
    if (error instanceof CelError || error instanceof CelFailure) return `${error.name}: ${error.message}`;
    throw error;
  }
}

const TOO_MUCH = `too much to do: more than ${EVALUATION_COST_MAX} steps for one request`;
const LONG_TEXT = 'makes a text of more than 1048576 characters';
const doubled = '.map(a, [a, a])'.repeat(40);

test.each([
  ['loops in each other', 'list.all(x, list.all(y, x == y))', TOO_MUCH],
  ['loops that make lists of lists', 'list.map(x, list.map(y, [x, y])).size()', TOO_MUCH],
  ['loops over errors', 'list.exists(x, int(x) == 1)', 'no number in "a"'],
  ['a loop that says true once the rest is too much', "list.exists(x, path.sha512() == '') || true", TOO_MUCH],
  ['long texts in a loop', "list.all(x, path == '/' + path.substring(1))", TOO_MUCH],
  ['hashes in a loop', "list.all(x, path.xxhash64() != '')", TOO_MUCH],
  ['lists in a loop', 'list.all(x, list.map(y, y) == list)', TOO_MUCH],
  ['JSON in a loop', "list.all(x, json.encode(list) != '')", TOO_MUCH],
  ['zones in a loop', "list.all(x, timestamp(time.now).getHours('Europe/Berlin') > 0)", TOO_MUCH],
  ['a pattern that would backtrack for ever', "path.matches('(a+)+$') && path.matches('^/(a|a)*b')", 'false'],
  ['such a pattern in a loop', "list.all(x, path.matches('(a+)+$'))", TOO_MUCH],
  ['a pattern with thousands of states', "path.matches('(?:a?){300}a{300}b')", TOO_MUCH],
  ['a number with 32,768 digits', 'int(digits) > 0', 'no number in "9999'],
  ['text for each character', "path.split('').join(path).size()", LONG_TEXT],
  ['text in place of each character', "path.replace('a', path).size()", LONG_TEXT],
  ['text that doubles', `[path]${'.map(a, a + a)'.repeat(20)}.size()`, LONG_TEXT],
  ['lists that double, as JSON', `[1]${doubled}.encodeJson().size()`, TOO_MUCH],
  ['lists that double, formatted', `'%s'.format([1]${doubled}).size()`, TOO_MUCH],
  ['lists that double, flat', `[1]${doubled}.flatten(50).size()`, TOO_MUCH],
  ['lists that double, compared', `[1]${doubled} == [1]${doubled}`, TOO_MUCH],
  [
    'a list of all numbers',
    'lists.range(1000000000 * path.size()).size()',
    'makes a list of more than 100000 elements',
  ],
  ['many small expressions', `list.map(x, x)${'.map(x, x)'.repeat(60)}.size()`, TOO_MUCH],
])('%s: comes to an end in bounded time', (_, expression, outcome) => {
  const { evaluate } = compileExpression(expression, vocabulary);
  const bindings = request();
  let got = '';
  const spent = cpuMs(() => {
    got = outcomeOf(() => evaluate(bindings));
  });
  expect(got).toContain(outcome);
  expect(spent).toBeLessThan(EVALUATE_MAX);
});

test('what one expression has used up, the next about the same request does not get again', () => {
  const bindings = request();
  const heavy = compileExpression('list.all(x, list.all(y, x == y))', vocabulary);
  const light = compileExpression("list.exists(x, x == 'a')", vocabulary);
  expect(outcomeOf(() => heavy.evaluate(bindings))).toContain(TOO_MUCH);
  expect(outcomeOf(() => light.evaluate(bindings))).toContain(TOO_MUCH);
  expect(light.evaluate(request())).toBe(true);
});

test.each([
  ['( 4,000 times', '('.repeat(4_000), 'nested deeper than 100 levels'],
  ['( ) 200 times', `${'('.repeat(200)}1${')'.repeat(200)}`, 'nested deeper than 100 levels'],
  ['[ ] 4,000 times', `${'['.repeat(4_000)}${']'.repeat(4_000)}`, 'nested deeper than 100 levels'],
  ['{{{{ }}}}', `${'{1:'.repeat(99)}1${'}'.repeat(99)}`, 'Map'],
  ['a ? b : a ? b : …', `${'true?1:'.repeat(1_000)}2`, 'nested deeper than 100 levels'],
  ['! 8,000 times', `${'!'.repeat(8_000)}true`, 'true'],
  ['1 + 1 + 1 + …', `${'1+'.repeat(4_000)}1`, 'nested deeper than 100 levels'],
  ['a && a && …', `true${'&&true'.repeat(1_300)}`, 'more than 2000 parts'],
  ['a.a.a.a…', `${'a.'.repeat(4_000)}b`, 'deeper than 100 names'],
  ['loops in loops', `${'[1].map(x,'.repeat(90)}1${')'.repeat(90)}`, 'more than 2 loops'],
  ['a long list', `[${'1,'.repeat(2_100)}1]`, 'more than 2000 parts'],
  ['a name of 8,000 letters', 'x'.repeat(8_000), 'is not known'],
  ['a text of 8,000 escapes', `'${'\\n'.repeat(4_000)}'.size()`, '4000'],
  ['quotes', "'''".repeat(2_700), 'cannot be read'],
  ['more than 8 KiB', '1'.repeat(8_193), 'must have at most 8192 bytes'],
])('%s: is compiled or refused in bounded time', (_, expression, outcome) => {
  let got = '';
  const spent = cpuMs(() => {
    got = outcomeOf(() => {
      const value = compileExpression(expression, vocabulary).evaluate({});
      return typeof value === 'object' ? 'Map' : value;
    });
  });
  expect(got).toContain(outcome);
  expect(spent).toBeLessThan(COMPILE_MAX);
});

test('a template has at most 100 expressions, and makes a text of at most 1 MiB', () => {
  expect(compileTemplate(`\${1}`.repeat(100), vocabulary).evaluate({})).toBe('1'.repeat(100));
  expect(outcomeOf(() => compileTemplate(`\${1}`.repeat(101), vocabulary))).toContain('more than 100 expressions');
  const many = compileTemplate(`\${path}`.repeat(40), vocabulary);
  expect(outcomeOf(() => many.evaluate(request()))).toContain(LONG_TEXT);
});
