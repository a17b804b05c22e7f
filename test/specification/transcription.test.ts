// `specification.md` is the specification's: compared line by line with it where it is at hand, which SPECIFICATION=<path> says.
// And what it says is checked: each sentence names a test.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { objects, operations, sentences, text } from './tables.ts';

const path = process.env.SPECIFICATION;

/** Lines of tables by section, as `2.1`; without what is ours. */
function tableLines(lines: string[], sections: RegExp): string[] {
  let section = '';
  let isOurs = false;
  return lines.flatMap((line) => {
    section = /^##+ ([\d.]*\d)/.exec(line)?.[1] ?? section;
    if (!line.startsWith('|')) isOurs = false;
    else if (line.startsWith('| Check | ')) isOurs = true;
    return line.startsWith('|') && !isOurs && sections.test(section) ? [`${section} ${line}`] : [];
  });
}

const headings = (lines: string[]) => lines.filter((line) => /^##+ /.test(line));
/** The sections whose tables the walk is made from. */
const WALKED = /^[248](\.|$)/;
const ours = text.split('\n');

describe.skipIf(!path)('beside the specification (without SPECIFICATION=<path>, skipped)', () => {
  const theirs = path ? readFileSync(path, 'utf8').split('\n') : [];

  test('every line of the tables of sections 2, 4 and 8 is there, in the same order, and no other', () => {
    const expected = tableLines(theirs, WALKED);
    expect(expected.length).toBeGreaterThan(50);
    expect(tableLines(ours, /./)).toEqual(expected);
  });

  test('every heading of sections 2 to 9 is there', () => {
    expect(headings(ours)).toEqual(headings(theirs).filter((line) => /^##+ [2-9]/.test(line)));
  });

  test.each([...sentences])('the sentence "%s" is one of its section', (_, { section, sentence }) => {
    const at = theirs.findIndex((line) => new RegExp(`^##+ ${section.replace('.', '\\.')}[. ]`).test(line));
    const length = theirs.slice(at + 1).findIndex((line) => /^##+ /.test(line));
    const body = theirs.slice(at, length < 0 ? undefined : at + 1 + length);
    expect(body.some((line) => line.includes(sentence))).toBe(true);
  });
});

test('every sentence is the name of a test', () => {
  const checks = join(import.meta.dirname, 'checks');
  const tests = readdirSync(checks)
    .map((file) => readFileSync(join(checks, file), 'utf8'))
    .join('\n');
  const told = new Set([...tests.matchAll(/\bsays\('([^']+)'\)/g)].map(([, name]) => name));
  expect([...sentences.keys()].filter((name) => !told.has(name))).toEqual([]);
});

test('the tables are read whole: so many members and operations', () => {
  const counts = Object.values(objects).map(({ section, members }) => `${section}: ${members.length}`);
  expect(counts).toEqual(['2.1: 8', '2.2: 13', '2.3: 6', '2.4: 2', '2.5: 7', '2.6: 5', '2.7: 12']);
  expect(operations).toHaveLength(20);
  expect(operations.filter(({ path, status }) => !path || !status)).toEqual([]);
});
