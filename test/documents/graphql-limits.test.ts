// The page for client authors has every limit of GraphQL, with the number that the code has.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ARGUMENT_WEIGHTS, COST_MAX } from '../../src/api/builder/field-cost.ts';
import { PAGE_SIZE_MAX } from '../../src/api/collections/page.ts';
import * as limits from '../../src/api/graphql/limits.ts';
import { SUBSCRIPTIONS_MAX } from '../../src/api/graphql/plugins/subscriptions.ts';
import { root } from '../support/root.ts';

const page = readFileSync(join(root, 'src/manual/clients.md'), 'utf8');
const section = page.slice(page.indexOf('## Limits of GraphQL'), page.indexOf('## What has changed'));
const shown = (limit: number) => limit.toLocaleString('en-US');

test('the table of limits has those of the code, and no other', () => {
  const rows = [...section.matchAll(/^\| ([A-Z][^|]*) \| ([\d,]+) \|/gm)].map(([, name, number]) => [name, number]);
  const code = {
    Cost: COST_MAX,
    Tokens: limits.TOKENS_MAX,
    Levels: limits.DEPTH_MAX,
    Brackets: limits.BRACKETS_MAX,
    Operations: limits.OPERATIONS_MAX,
    'Root fields': limits.ROOT_FIELDS_MAX,
    Aliases: limits.ALIASES_MAX,
    Pairs: limits.COMPARISONS_MAX,
    Selections: limits.STEPS_MAX,
    'Cost without a key': limits.ANONYMOUS_COST_MAX,
    Subscriptions: SUBSCRIPTIONS_MAX,
  };
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(code).map(([name, number]) => [name, shown(number)])),
  );
});

test('it says what lists and their arguments count as', () => {
  const text = section.replaceAll(/\s+/g, ' ');
  const { where = 0, filter = 0, search = 0, orderBy = 0, order = 0 } = ARGUMENT_WEIGHTS;
  expect([where, search, order]).toEqual([filter, filter, orderBy]);
  for (const sentence of [
    `as ${PAGE_SIZE_MAX} objects where a variable says it, or nothing`,
    `a list of \`ids\` as ${PAGE_SIZE_MAX}, any other list as ${limits.LIST_LENGTH}.`,
    `A \`where\`, a \`filter\` or a \`search\` of a list counts as ${shown(filter)} more, an order as ${shown(orderBy)}.`,
    `"maximumQueryCost": ${COST_MAX}`,
  ])
    expect(text).toContain(sentence);
});

test('no other page has another number', () => {
  expect(page.replace(section, '')).not.toMatch(/\b(90,000|120,000)\b/);
});
