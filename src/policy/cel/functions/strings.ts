// Functions on texts. Positions are UTF-16 code units, from 0.

import { type CelFunc, celList, celMethod } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { growList, growText, spendText } from '../cost-budget.ts';
import { INT, LIST, STRING } from '../types.ts';
import { metered } from './metered.ts';

/** The functions that replace those of the library, because their result may be much larger than their input. */
const OWN = new Set(['replace', 'split', 'join', 'lowerAscii', 'upperAscii']);

/** @param limit the most replacements; negative for all. */
function replace(text: string, from: string, to: string, limit: bigint): string {
  if (from === '') throw new Error('replace() needs a text to look for');
  spendText(text.length);
  const parts: string[] = [];
  let at = 0;
  for (let next = text.indexOf(from); next >= 0; next = text.indexOf(from, at)) {
    if (limit >= 0n && BigInt(parts.length) >= limit) break;
    parts.push(text.slice(at, next));
    at = next + from.length;
  }
  growList(parts.length);
  growText(text.length + parts.length * (to.length - from.length));
  parts.push(text.slice(at));
  return parts.join(to);
}

/** @param limit the most parts, without the rest of the text; negative for all. */
function split(text: string, separator: string | RegExp, limit: bigint) {
  spendText(text.length);
  const parts = text.split(separator, limit < 0n || limit > 1_000_000n ? undefined : Number(limit));
  growList(parts.length);
  return celList(parts);
}

function words(text: string) {
  const trimmed = text.trim();
  return trimmed === '' ? celList([]) : split(trimmed, /\s+/, -1n);
}

function join(list: Iterable<unknown>, separator: string): string {
  const parts: string[] = [];
  let length = 0;
  for (const part of list) {
    if (typeof part !== 'string')
      throw new Error('join() needs a list of texts: make them with list.map(x, string(x))');
    length += part.length + separator.length;
    parts.push(part);
  }
  growText(length);
  growList(parts.length);
  return parts.join(separator);
}

/** Defines a method of texts that returns a text. */
function textMethod(name: string, change: (text: string) => string): CelFunc {
  return celMethod(name, STRING, [], STRING, function () {
    spendText(this.length * 16);
    return change(this);
  });
}

export const STRING_FUNCTIONS: CelFunc[] = [
  ...strings.filter(({ name }) => !OWN.has(name)).map(metered),
  celMethod('replace', STRING, [STRING, STRING], STRING, function (from, to) {
    return replace(this, from, to, -1n);
  }),
  celMethod('replace', STRING, [STRING, STRING, INT], STRING, function (from, to, limit) {
    return replace(this, from, to, limit);
  }),
  celMethod('split', STRING, [], LIST, function () {
    return words(this);
  }),
  celMethod('split', STRING, [STRING], LIST, function (separator) {
    return split(this, separator, -1n);
  }),
  celMethod('split', STRING, [STRING, INT], LIST, function (separator, limit) {
    return split(this, separator, limit);
  }),
  celMethod('join', LIST, [], STRING, function () {
    return join(this, '');
  }),
  celMethod('join', LIST, [STRING], STRING, function (separator) {
    return join(this, separator);
  }),
  textMethod('lower', (text) => text.toLowerCase()),
  textMethod('upper', (text) => text.toUpperCase()),
  textMethod('lowerAscii', (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())),
  textMethod('upperAscii', (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())),
  textMethod('reverse', (text) => [...text].reverse().join('')),
];
