// A rule of GraphQL compares fields and fragments pair by pair. How many pairs a document may have is limited, by their number, so
// that the ordinary way of writing fragments beside components passes, and what is made to keep a gateway busy does not.

import { type DocumentNode, OverlappingFieldsCanBeMergedRule, parse, validate, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import { COMPARISONS_MAX, checkDocumentLimits, TOKENS_MAX } from '../../../src/api/graphql/limits.ts';
import { schema } from '../../../src/api/schema.ts';

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ');

const leaves = 'id uri createdAt description metadata ownerId acl openSessions owner { id active }';
const colocated = (count: number, fields: string) =>
  `{ credentials(first: 20) { nodes { id ${times(count, (n) => `...f${n}`)} } } }
  ${times(count, (n) => `fragment f${n} on Credential { ${fields} }`)}`;
/** Each component's fragment has those of the components within it. */
const tree = `{ credentials(first: 20) { nodes { id ${times(20, (n) => `...row${n}`)} } } }
  ${times(20, (n) => `fragment row${n} on Credential { id description ...cell${n} }`)}
  ${times(20, (n) => `fragment cell${n} on Credential { id createdAt owner { id } }`)}`;

/** How many pairs the rule compares: it reads the names of both. It reads each a few times more to collect them. */
function comparisonsOf(document: DocumentNode): number {
  let read = 0;
  const counted = visit(document, {
    Field(node) {
      const { name } = node;
      return Object.defineProperty({ ...node }, 'name', {
        enumerable: true,
        get: () => {
          read++;
          return name;
        },
      });
    },
  });
  read = 0;
  validate(schema, counted, [OverlappingFieldsCanBeMergedRule]);
  return read / 2;
}

describe('what people write passes, in few comparisons', () => {
  test.each([
    ['twenty fragments on one list, each with the same fields', colocated(20, leaves)],
    ['twenty fragments, each with one inside', tree],
    [
      'the same fragment in thirty places',
      `{ ${times(15, (n) => `a${n}: credentials(first: 1) { nodes { ...f ...f } }`)} } fragment f on Credential { ${leaves} }`,
    ],
  ])('%s', (_, source) => {
    const document = parse(source, { maxTokens: TOKENS_MAX });
    expect(checkDocumentLimits(schema, document, false).steps).toBeGreaterThan(0);
    expect(validate(schema, document)).toEqual([]);
    expect(comparisonsOf(document)).toBeLessThan(COMPARISONS_MAX);
  });
});

describe('what would be compared too often is refused before the rule looks at it', () => {
  test.each([
    ['one leaf a thousand times', `{ credentials { ${'uri '.repeat(1000)} } }`],
    ['one leaf a thousand times, over fragments', colocated(100, 'id description metadata uri')],
    ['one list with a selection of its own, hundreds of times', `{ credentials { ${'nodes { id } '.repeat(300)} } }`],
    ['lists in lists', `{ credentials { ${`nodes { ${'owner { id } '.repeat(12)} } `.repeat(30)} } }`],
    ['in a fragment that nothing uses', `{ __typename } fragment f on Credential { owner { ${'id '.repeat(1000)} } }`],
  ])('%s', (_, source) => {
    const document = parse(source, { maxTokens: TOKENS_MAX });
    expect(() => checkDocumentLimits(schema, document, false)).toThrow(`more than ${COMPARISONS_MAX} pairs`);
    expect(comparisonsOf(document)).toBeGreaterThan(COMPARISONS_MAX);
  });

  test('many fragments in one place, whatever is in them', () => {
    const document = parse(colocated(190, '__typename'), { maxTokens: TOKENS_MAX });
    expect(() => checkDocumentLimits(schema, document, false)).toThrow(`more than ${COMPARISONS_MAX} pairs`);
  });
});

test('the largest that passes is compared no more often than the limit says', () => {
  let count = 1;
  const wide = (size: number) => parse(`{ credentials { ${'uri '.repeat(size)} } }`, { maxTokens: TOKENS_MAX });
  const passes = (size: number) => {
    try {
      return checkDocumentLimits(schema, wide(size), false).steps > 0;
    } catch {
      return false;
    }
  };
  while (passes(count + 1)) count++;
  expect(count).toBe(141);
  expect(comparisonsOf(wide(count))).toBeLessThanOrEqual(COMPARISONS_MAX + 5 * count);
});
