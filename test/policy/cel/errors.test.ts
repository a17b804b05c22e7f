// What is wrong with an expression is found when it is compiled, with its place and what would be right.

import { CelScalar, celFunc, listType, mapType } from '@bufbuild/cel';
import { describe, expect, test } from 'vitest';
import { CelError } from '../../../src/policy/cel/errors.ts';
import { compileCondition, compileExpression } from '../../../src/policy/cel/expression.ts';
import { compilePattern, RegexError } from '../../../src/policy/cel/regex.ts';
import { compileTemplate } from '../../../src/policy/cel/template.ts';
import { TIMESTAMP } from '../../../src/policy/cel/types.ts';
import type { Vocabulary } from '../../../src/policy/cel/vocabulary.ts';

const { DYN, INT, STRING } = CelScalar;
const HEADERS = mapType(STRING, listType(STRING));

const vocabulary: Vocabulary = {
  variables: {
    'req.method': STRING,
    'req.url': STRING,
    'req.url.path': STRING,
    'req.headers': HEADERS,
    'res.status_code': INT,
    'conn.client_ip': STRING,
    'conn.ts.start': TIMESTAMP,
    vars: mapType(STRING, DYN),
  },
  missing: { 'conn.geo': 'needs a database of addresses, which this gateway does not have' },
  functions: [celFunc('getReqHeader', [HEADERS, STRING], listType(STRING), (map, name) => [`${name} of ${map.size}`])],
  contextual: { getReqHeader: 'req.headers' },
};

/** What a mistake is told as: its code, its place, and words of the message. */
function problemOf(compile: () => unknown): string {
  try {
    compile();
    return 'none';
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return `${error.code}@${error.position} ${error.message}`;
  }
}

const MISTAKES: Record<string, [expression: string, problem: string][]> = {
  names: [
    [`req.methd == 'GET'`, 'unknown@0 uses req.methd, which is not known: did you mean req.method?'],
    [`true && Req.Method == 'GET'`, 'unknown@8 uses Req.Method, which is not known: did you mean req.method?'],
    [`req.url.pth == '/'`, 'unknown@0 uses req.url.pth, which is not known: did you mean req.url.path?'],
    [`req == 1`, 'unknown@0 uses req, which is not known: it has req.method, req.url, req.url.path, req.headers'],
    [`conn.geo.city == 'x'`, 'unknown@0 conn.geo needs a database of addresses, which this gateway does not have'],
    [`has(conn.geo.city)`, 'unknown@4 conn.geo needs a database of addresses, which this gateway does not have'],
    [`has(req.body)`, 'unknown@4 uses req.body, which is not known'],
    [`wholly.unlike`, 'unknown@0 uses wholly.unlike, which is not known'],
    [`[1].all(req, true)`, 'unknown@3 calls an element req, which means something already: take another name, as x'],
    [`Player{name: 'x'}`, "unknown@0 makes a Player, and there are no such types: a map is { 'name': value }"],
  ],
  functions: [
    [
      `req.method.startswith('G')`,
      'unknown@10 calls startswith, and there is no such function: did you mean startsWith?',
    ],
    [`getReqHeder('x')`, 'unknown@0 calls getReqHeder, and there is no such function: did you mean getReqHeader?'],
    [`hash.sha3('x') == ''`, 'unknown@4 calls hash.sha3, and there is no such function: did you mean hash.sha1?'],
    [`req.method.startsWith()`, 'type@10 cannot be: string.startsWith(); there is string.startsWith(string)'],
    [`req.method.startsWith(1)`, 'type@10 cannot be: string.startsWith(int); there is string.startsWith(string)'],
    [`getReqHeader(1)`, 'type@0 cannot be: getReqHeader(int); there is getReqHeader(string)'],
    [`[1].exists(x)`, 'unknown@3 writes exists in another form than list.exists(x, x > 1)'],
    [`has(1)`, "unknown@0 writes has in another form than has(map['key'])"],
  ],
  types: [
    [`res.status_code == '200'`, 'type@16 compares an int with a string: they are never equal'],
    [`res.status_code < '200'`, 'type@16 cannot be: int < string'],
    [`req.headers['x'] == 'a'`, 'type@17 compares a list(string) with a string: they are never equal'],
    [`req.headers[1] == ['a']`, 'type@11 looks up an int in a map that has keys of type string'],
    [`req.headers['x']['y']`, 'type@16 takes element string of a list: elements have numbers, from [0]'],
    [`1 in ['a']`, 'type@2 looks for an int in a list(string): it is never in there'],
    [`'a' in 'abc'`, 'type@4 looks for a value in a string: in takes a list or a map'],
    [`req.method && true`, 'type@0 has a string where there must be true or false'],
    [`req.method ? 1 : 2`, 'type@0 has a string where there must be true or false'],
    [`req.method.all(x, true)`, 'type@0 goes through a string: only lists and maps have elements'],
    [`conn.ts.start.year`, 'type@13 takes .year of a timestamp, which has no fields'],
    [`99999999999999999999`, 'type@0 has a number with too many digits: whole numbers have 64 bits'],
    [`1 / 0`, 'type@2 cannot be: int divide by zero'],
    [
      `timestamp('noon')`,
      'type@0 cannot be: timestamp() has no time in "noon": one is written as 2026-01-31T12:00:00Z',
    ],
    [`conn.ts.start.getHours('Mars')`, 'type@23 "Mars" is no time zone: one is written as Europe/Berlin or +02:00'],
  ],
  patterns: [
    [
      `req.method.matches('(a')`,
      'regex@19 has a pattern that is not a regular expression (RE2): missing closing ): `(a`',
    ],
    [`matches(req.method, '(?=a)')`, 'regex@20 has a pattern that is not a regular expression (RE2)'],
    [`req.method.matches('((a{100}){10}){10}')`, 'regex@19 has a pattern that is not a regular expression (RE2)'],
  ],
  syntax: [
    ['', "syntax@0 is empty: an expression is something like req.method == 'GET'"],
    [`req.method == 'GET`, `syntax@14 has a text that begins here and does not end: ' is missing, on the same line`],
    [`(req.method == 'GET'`, 'syntax@0 has a ( that is not closed: ) is missing'],
    [`[1, 2)`, 'syntax@5 has ) where ] would close the [ before it'],
    [`true)`, 'syntax@4 has a ) that closes nothing'],
    [`{{ req.method }}`, 'syntax@0 begins with {{: an expression stands alone'],
    [`req.method = 'GET'`, 'syntax@11 cannot be read from "= \'GET\'" on: equality is =='],
    [`true and false`, 'syntax@5 cannot be read from "and false" on: "and" is &&'],
    [`true | false`, 'syntax@5 cannot be read from "| false" on: "or" is ||'],
    [`not true`, 'syntax@4 cannot be read from "true" on: "not" is !'],
    [`1 +`, 'syntax@2 cannot be read from "+" on: it needs a value on both sides'],
    [`[x for x in vars]`, 'syntax@3 cannot be read from "for x in vars]" on: a list is made of another'],
    [`var a = 1`, 'syntax@0 uses var, which is a word of the language'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what somebody wrote
    ['${req.method}', 'syntax@0 cannot be read from "${req.method}" on: ${ } is for texts with something in them'],
  ],
};

describe.each(Object.entries(MISTAKES))('mistakes in %s', (_, mistakes) => {
  test.each(mistakes)('%s is refused with its place and a reason', (expression, problem) => {
    expect(problemOf(() => compileExpression(expression, vocabulary)).slice(0, problem.length)).toBe(problem);
  });
});

test('a condition that is known not to be true or false is refused', () => {
  expect(problemOf(() => compileCondition('req.method', vocabulary))).toBe(
    "type@0 must be true or false, and is a string: compare it, as in a == 'b'",
  );
});

test('a mistake in a template is told of its place in the whole text', () => {
  expect(problemOf(() => compileTemplate(`to \${req.url.path} and \${ req.methd }`, vocabulary))).toBe(
    `unknown@26 \${req.methd} uses req.methd, which is not known: did you mean req.method?`,
  );
  expect(problemOf(() => compileTemplate(`to \${req.url`, vocabulary))).toBe(
    `syntax@3 has a \${ that is not closed: } is missing`,
  );
});

test('what is made of constants is tried within bounds of its own, not with what the last request left', () => {
  const nothing = { ...vocabulary, variables: {} };
  const busy = compileExpression('lists.range(30000).all(x, lists.range(9999).all(y, true))', nothing);
  expect(() => busy.evaluate({})).toThrow('too much to do');
  expect(compileExpression("timestamp('2026-01-31T12:00:00Z')", vocabulary).type).toBe(TIMESTAMP);
});

test.each(['[', 'a**', '(?=a)', '\\1', 'a{1001}'])('%s is no pattern', (text) => {
  expect(() => compilePattern(text)).toThrow(RegexError);
});

test('a name that every object has is a name like others', () => {
  for (const name of ['constructor', 'toString', '__proto__'])
    expect(problemOf(() => compileExpression(`vars.${name} == 1`, vocabulary))).toBe('none');
});
