// Functions of CEL that are replaced: those that accept invalid input, and those whose cost must be counted.

import { type CelFunc, type CelValue, celEnv, celFunc, celList, celMethod, celUint } from '@bufbuild/cel';
import { create, fromJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { growList, growText, spend, spendText } from '../cost-budget.ts';
import { RE2 } from '../regex.ts';
import { BOOL, BYTES, DOUBLE, DYN, INT, LIST, STRING, TIMESTAMP, UINT } from '../types.ts';
import { equals } from './equality.ts';
import { metered } from './metered.ts';

const standard = celEnv({}).funcs;

/** The Unix times of the first and the last second of years with four digits. */
const [SECONDS_MIN, SECONDS_MAX] = [-62_135_596_800n, 253_402_300_799n];
const [INT_MIN, INT_MAX, UINT_MAX] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 64n - 1n];

/** Parses an integer, for `int` and `uint`. */
function integer(text: string, min: bigint, max: bigint, name: string): bigint {
  const value = /^[-+]?\d{1,20}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  if (value === undefined || value < min || value > max) throw new Error(`${name}() has no number in ${quoted(text)}`);
  return value;
}

function double(text: string): number {
  const special = { NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY, '-Infinity': Number.NEGATIVE_INFINITY };
  if (Object.hasOwn(special, text)) return special[text as keyof typeof special];
  if (text.length > 400 || !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text))
    throw new Error(`double() has no number in ${quoted(text)}`);
  return Number(text);
}

/** Quotes a text for a message. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** Counts code points: some have two code units in UTF-16. */
function characters(text: string): bigint {
  spendText(text.length * 8);
  let count = text.length;
  for (let i = 1; i < text.length; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  return BigInt(count);
}

function matches(text: string, pattern: string): boolean {
  return RE2.compile(pattern).test(text);
}

/** The standard functions that are kept and whose cost depends on the length of their input. */
const METERED = ['_<_', '_<=_', '_>_', '_>=_', 'bytes', 'string', 'duration', 'bool'].flatMap((name) =>
  [...(standard.find(name) ?? [])].filter((form) => form.arguments.some((type) => type === STRING || type === BYTES)),
);

export const CORE_FUNCTIONS: CelFunc[] = [
  ...METERED.map(metered),
  celFunc('_==_', [DYN, DYN], BOOL, equals),
  celFunc('_!=_', [DYN, DYN], BOOL, (left, right) => !equals(left, right)),
  celFunc('@in', [DYN, LIST], BOOL, (value, list) => {
    spend(list.size);
    for (let i = 0; i < list.size; i++) if (equals(list.get(i) as CelValue, value)) return true;
    return false;
  }),
  celFunc('_+_', [STRING, STRING], STRING, (left, right) => {
    growText(left.length + right.length);
    return left + right;
  }),
  celFunc('_+_', [BYTES, BYTES], BYTES, (left, right) => {
    growText(left.length + right.length);
    return Buffer.concat([left, right]);
  }),
  celFunc('_+_', [LIST, LIST], LIST, (left, right) => {
    growList(left.size + right.size);
    return celList([...left, ...right]);
  }),
  celFunc('size', [STRING], INT, characters),
  celMethod('size', STRING, [], INT, function () {
    return characters(this);
  }),
  celMethod('contains', STRING, [STRING], BOOL, function (text) {
    spendText(this.length);
    return this.includes(text);
  }),
  celMethod('includes', STRING, [STRING], BOOL, function (text) {
    spendText(this.length);
    return this.includes(text);
  }),
  celMethod('startsWith', STRING, [STRING], BOOL, function (text) {
    spendText(text.length);
    return this.startsWith(text);
  }),
  celMethod('endsWith', STRING, [STRING], BOOL, function (text) {
    spendText(text.length);
    return this.endsWith(text);
  }),
  celFunc('matches', [STRING, STRING], BOOL, matches),
  celFunc('int', [STRING], INT, (text) => integer(text, INT_MIN, INT_MAX, 'int')),
  celFunc('uint', [STRING], UINT, (text) => celUint(integer(text, 0n, UINT_MAX, 'uint'))),
  celFunc('double', [STRING], DOUBLE, double),
  celFunc('timestamp', [STRING], TIMESTAMP, (text) => {
    try {
      return fromJson(TimestampSchema, text);
    } catch {
      throw new Error(`timestamp() has no time in ${quoted(text)}: one is written as 2026-01-31T12:00:00Z`);
    }
  }),
  celFunc('timestamp', [INT], TIMESTAMP, (seconds) => {
    if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
      throw new Error('timestamp() is out of range: it takes seconds');
    return create(TimestampSchema, { seconds });
  }),
];
