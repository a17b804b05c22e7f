// A form whose object changes while it is open.

import { expect, test } from 'vitest';
import { conflictsIn, isDifferent, takeOver } from '../../src/dashboard/ui/forms/three-way.ts';

const base = { description: 'shop', metadata: '', acl: ['a', 'b'] };

function versions(mine: Partial<typeof base>) {
  return { base, mine: { ...base, ...mine }, taken: [] };
}

test('what somebody else changed and the user did not is taken over, and named', () => {
  const merged = takeOver(versions({ description: 'mine' }), { ...base, metadata: 'theirs' });
  expect(merged.mine).toEqual({ ...base, description: 'mine', metadata: 'theirs' });
  expect(merged.taken).toEqual([{ name: 'metadata', before: '', mine: '', theirs: 'theirs' }]);
  expect(isDifferent(merged.mine, merged.base)).toBe(true);
});

test('a form that nobody has touched follows in silence', () => {
  const theirs = { ...base, acl: ['c'] };
  expect(takeOver(versions({}), theirs)).toEqual({ base: theirs, mine: theirs, taken: [] });
});

test('a field that both changed is a conflict, and keeps its value until the user decides', () => {
  const theirs = { ...base, acl: ['theirs'] };
  const merged = takeOver(versions({ acl: ['mine'] }), theirs);
  expect(merged.mine.acl).toEqual(['mine']);
  expect(conflictsIn(merged, theirs)).toEqual([
    { name: 'acl', before: ['a', 'b'], mine: ['mine'], theirs: ['theirs'] },
  ]);
});

test('the same change by both is no conflict', () => {
  const theirs = { ...base, acl: ['same'] };
  const merged = takeOver(versions({ acl: ['same'] }), theirs);
  expect(conflictsIn(merged, theirs)).toEqual([]);
  expect(isDifferent(merged.mine, merged.base)).toBe(false);
});

test('a change that is taken back before the user decides is no conflict any more', () => {
  const mine = takeOver(versions({ description: 'mine' }), { ...base, description: 'theirs' });
  expect(conflictsIn(mine, base)).toEqual([]);
});
