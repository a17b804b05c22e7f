// Texts with expressions in them, and what regular expressions put into texts.

import { CelScalar, mapType } from '@bufbuild/cel';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { CelFailure } from '../../../src/policy/cel/errors.ts';
import { compilePattern, RegexError } from '../../../src/policy/cel/regex.ts';
import { compileTemplate } from '../../../src/policy/cel/template.ts';
import { DURATION, TIMESTAMP } from '../../../src/policy/cel/types.ts';
import type { Vocabulary } from '../../../src/policy/cel/vocabulary.ts';

const { DYN, STRING } = CelScalar;
const vocabulary: Vocabulary = {
  variables: { 'req.path': STRING, vars: mapType(STRING, DYN), 'conn.start': TIMESTAMP, 'conn.age': DURATION },
  missing: {},
  functions: [],
  contextual: {},
};
const bindings = {
  'req.path': '/a b',
  vars: { n: 5n, list: ['x', 1n], evil: 'a\r\nset-cookie: b\0\tc', bytes: new Uint8Array([1, 2]) },
  'conn.start': timestampFromMs(Date.UTC(2026, 10, 21, 16)),
};

const made = (text: string, style?: 'plain' | 'header') => compileTemplate(text, vocabulary, style).evaluate(bindings);

describe('a template', () => {
  test.each([
    ['costs $5, $1 and $ {}', 'costs $5, $1 and $ {}'],
    ['path=$' + '{req.path}!', 'path=/a b!'],
    ['$' + "{ {'}': 'a}'}['}'] }$" + "{'{'}", 'a}{'],
    ['$' + "{r'\\'}", '\\'],
    ['$' + '{vars.n + 1}', '6'],
    ['$' + '{1.0} $' + '{2.5} $' + '{3u} $' + '{null} $' + '{true}', '1 2.5 3 null true'],
    ['$' + '{vars.list} $' + "{{'a': vars.n}}", '["x",1] {"a":5}'],
    ['$' + '{vars.bytes}', 'AQI='],
    ['$' + '{conn.start} $' + "{duration('90s')}", '2026-11-21T16:00:00Z 90s'],
    ['$' + '{type(1)}', 'int'],
  ])('%s is %s', (text, wanted) => {
    expect(made(text)).toBe(wanted);
  });

  test('without an expression is known beforehand', () => {
    expect(compileTemplate('plain $1', vocabulary).constant).toBe('plain $1');
    expect(compileTemplate('$' + '{1}', vocabulary).constant).toBeUndefined();
  });

  test('that is one expression alone keeps the type of its value', () => {
    const value = (text: string) => compileTemplate(text, vocabulary).evaluateValue(bindings);
    expect(value('$' + '{vars.n}')).toBe(5n);
    expect(value('$' + '{1.5}')).toBe(1.5);
    expect(value('n $' + '{vars.n}')).toBe('n 5');
    expect(value('$' + '{vars.n} ')).toBe('5 ');
  });

  test('for a header has no line breaks and control characters in what is computed', () => {
    expect(made('v=$' + '{vars.evil}', 'header')).toBe('v=aset-cookie: b\tc');
  });

  test('with an expression that has no value this time fails', () => {
    expect(() => made('a $' + '{vars.other}')).toThrow(CelFailure);
  });
});

describe('a pattern', () => {
  const pattern = compilePattern('(b)(?P<rest>c)?');

  test.each([
    ['$1x', 'abxbx'],
    ['[$0]', 'a[bc][b]'],
    ['$' + '{1}$' + '{rest}', 'abcb'],
    ['$<rest>', 'ac'],
    ['$$1', 'a$1$1'],
    ['$3', 'a$3$3'],
    ['$' + '{other}', 'a$' + '{other}$' + '{other}'],
    ['\\1', 'a\\1\\1'],
  ])('replaces all with %s', (to, wanted) => {
    expect(pattern.replaceAll('abcb', to)).toBe(wanted);
  });

  test('replaces the first alone, finds with groups, and is case-insensitive when it says so', () => {
    expect(pattern.replaceFirst('abcb', 'x')).toBe('axb');
    expect(pattern.find('abcb')).toEqual(['bc', 'b', 'c']);
    expect(pattern.find('b')).toEqual(['b', 'b', undefined]);
    expect(pattern.find('x')).toBeUndefined();
    expect(compilePattern('(?i)^FOO').test('foobar')).toBe(true);
    expect(pattern.groups).toBe(2);
  });

  test('is the same one when it is compiled again', () => {
    expect(compilePattern('(b)(?P<rest>c)?')).toBe(pattern);
  });

  test('does not make a text of more than 1 MiB', () => {
    expect(() => compilePattern('').replaceAll('a'.repeat(2_000), 'b'.repeat(1_000))).toThrow(RegexError);
  });
});
