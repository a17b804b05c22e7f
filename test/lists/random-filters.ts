// Random rows, random filters on them, and the judge: the CEL library itself, which evaluates the filter on a row as REST shows it.

import { type CelInput, celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import { reflect } from '@bufbuild/protobuf/reflect';
import { TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';

/** A row as it is shown, by the names of its members. */
export type ShownRow = { id: string } & Record<string, unknown>;

export type MemberKind = 'text' | 'json text' | 'id' | 'time' | 'choice' | 'texts' | 'labels' | 'boolean';

/** Pieces that meet often, and what patterns and literals could take for something of their own. */
const PIECE = fc.constantFrom('a', 'A', 'b', 'ab', '%', '_', '\\', "'", '"', ' ', 'é', '𝛼', '\n', '$1', '{', 'null');
export const TEXT = fc.array(PIECE, { maxLength: 4 }).map((pieces) => pieces.join(''));
const FIRST_SECOND = 1_700_000_000;
/** Times around a few seconds, so that some are equal to the second but not to the millisecond. */
export const TIME = fc.integer({ min: 0, max: 5000 }).map((ms) => new Date(FIRST_SECOND * 1000 + ms));
const KEY = fc.constantFrom('a', 'b', 'a.b', 'é"');
export const LABELS = fc.dictionary(KEY, TEXT, { maxKeys: 3 });
export const TEXTS = fc.array(fc.constantFrom('a', 'b', 'a b', '"', ''), { maxLength: 3 });

const literal = (text: string) => JSON.stringify(text);
const timeLiteral = TIME.chain((time) =>
  fc.constantFrom(
    `timestamp("${time.toISOString()}")`,
    `timestamp("${time.toISOString().slice(0, 19)}Z")`,
    `timestamp("${time.toISOString().slice(0, 19)}Z") + duration("1s")`,
  ),
);
const COMPARISON = fc.constantFrom('==', '!=');
const ORDER = fc.constantFrom('==', '!=', '<', '<=', '>', '>=');
const PATTERN = fc.constantFrom('contains', 'startsWith', 'endsWith');
const SIZE = fc.constantFrom('== 0', '!= 0', '> 0', '>= 1', '< 1', '<= 0');

/** @param known values that rows have. */
function comparisonOf(name: string, kind: MemberKind, known: readonly string[]): fc.Arbitrary<string> {
  const path = fc.constantFrom(name, `obj.${name}`);
  const value = fc.oneof(TEXT, fc.constantFrom(...known, '')).map(literal);
  const equality = fc.oneof(
    fc.tuple(path, COMPARISON, value).map((parts) => parts.join(' ')),
    fc.tuple(value, COMPARISON, path).map((parts) => parts.join(' ')),
    fc.tuple(path, fc.array(value, { maxLength: 3 })).map(([at, values]) => `${at} in [${values.join(', ')}]`),
    fc.tuple(path, COMPARISON).map(([at, comparison]) => `${at} ${comparison} null`),
  );
  switch (kind) {
    case 'text':
    case 'json text':
      return fc.oneof(
        equality,
        fc
          .tuple(path, PATTERN, fc.oneof(value, PIECE.map(literal)))
          .map(([at, method, text]) => `${at}.${method}(${text})`),
        fc.tuple(path, SIZE).map(([at, size]) => `size(${at}) ${size}`),
      );
    case 'id':
    case 'choice':
      return equality;
    case 'boolean':
      return fc.oneof(
        path,
        fc.tuple(path, COMPARISON, fc.boolean()).map((parts) => parts.join(' ')),
      );
    case 'time':
      return fc.oneof(
        fc.tuple(path, ORDER, timeLiteral).map((parts) => parts.join(' ')),
        fc.tuple(timeLiteral, ORDER, path).map((parts) => parts.join(' ')),
        fc.tuple(path, COMPARISON).map(([at, comparison]) => `${at} ${comparison} null`),
      );
    case 'texts':
      return fc.oneof(
        fc.tuple(value, path).map((parts) => parts.join(' in ')),
        fc.tuple(path, SIZE).map(([at, size]) => `${at}.size() ${size}`),
        fc.tuple(path, COMPARISON).map(([at, comparison]) => `${at} ${comparison} []`),
      );
    case 'labels': {
      const label = fc
        .tuple(path, KEY)
        .map(([at, key]) => (/^\w+$/.test(key) ? `${at}.${key}` : `${at}[${literal(key)}]`));
      return fc.oneof(
        fc.tuple(label, COMPARISON, value).map((parts) => parts.join(' ')),
        fc.tuple(KEY.map(literal), path).map((parts) => parts.join(' in ')),
      );
    }
  }
}

/** Filters on members of these kinds. */
export function filtersOn(members: Record<string, MemberKind>, rows: readonly ShownRow[]): fc.Arbitrary<string> {
  const comparisons = Object.entries(members).map(([name, kind]) => {
    const values = rows.map((row) => valueAt(row, name)).filter((value) => typeof value === 'string');
    return comparisonOf(name, kind, values.slice(0, 50) as string[]);
  });
  const { filter } = fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 4 },
      { weight: 4, arbitrary: fc.oneof(...comparisons) },
      { weight: 1, arbitrary: fc.constantFrom('true', 'false', '1 < 2') },
      { weight: 3, arbitrary: fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a} && ${b})`) },
      { weight: 3, arbitrary: fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a} || ${b})`) },
      { weight: 3, arbitrary: tie('filter').map((one) => `!(${one})`) },
    ),
  }));
  return filter;
}

/** The ids of the rows for which a filter is true; one that has no value for a row is not. */
export function judged(filter: string, rows: readonly ShownRow[]): string[] {
  const decide = plan(celEnv({}), parse(filter));
  return rows
    .filter((row) => {
      const obj = asCel(row) as Record<string, CelInput>;
      const value = decide({ ...obj, obj });
      return !isCelError(value) && value === true;
    })
    .map(({ id }) => id);
}

function valueAt(row: ShownRow, name: string): unknown {
  return name.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown> | null)?.[part], row);
}

/** Dates become timestamps of the second, as they are shown. */
function asCel(value: unknown): unknown {
  if (value instanceof Date)
    return reflect(TimestampSchema, timestampFromMs(Math.floor(value.getTime() / 1000) * 1000));
  if (Array.isArray(value)) return value.map(asCel);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, asCel(one)]));
}
