// Lists of the dashboard in another order than by id, and lists that a filter narrows.

import { describe, expect, test } from 'vitest';
import { ListSource } from '../../src/dashboard/data/lists/list-source.ts';
import { RowSelection } from '../../src/dashboard/ui/table/row-selection.ts';

interface Row {
  id: string;
  name: string;
}

/** A list of the API, ordered by name, of the rows whose names do not begin with `-`. */
function orderedTable(names: readonly string[]) {
  const rows = new Map(names.map((name, index) => [`cr_${index}`, name]));
  const source = new ListSource<Row>({ isOrdered: true, isNarrowed: true });
  const shown = () =>
    [...rows]
      .map(([id, name]) => ({ id, name }))
      .filter(({ name }) => !name.startsWith('-'))
      .sort((one, other) => one.name.localeCompare(other.name) || one.id.localeCompare(other.id));
  async function fetchPage(first: number, after: string | undefined) {
    const all = shown();
    const place = all.findIndex(({ id }) => id === after);
    if (after !== undefined && place < 0) throw Object.assign(new Error('the row is gone'), { field: 'after' });
    const nodes = all.slice(place + 1, place + 1 + first);
    return { nodes, pageInfo: { hasNextPage: place + 1 + first < all.length }, totalCount: all.length };
  }
  return {
    source,
    rows,
    shown: () => shown().map(({ id }) => id),
    ask: () => source.fetchMissing(fetchPage),
    loaded: () => source.rows.map(({ id }) => id),
  };
}

const told = (action: 'CREATED' | 'UPDATED' | 'DELETED', objectId: string) => [
  { kind: 'credential', action, objectId },
];
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${String(index).padStart(4, '0')}`);

describe('an ordered list', () => {
  test('has each row once and in its order after all pages were loaded', async () => {
    const { source, ask, loaded, shown } = orderedTable(names(250).reverse());
    await ask();
    while (source.requestNextPage()) await ask();
    expect(loaded()).toEqual(shown());
  });

  test('moves a row whose place changed, and keeps the identity of the others', async () => {
    const { source, rows, ask, loaded, shown } = orderedTable(names(60));
    await ask();
    const before = new Map(source.rows.map((row) => [row.id, row]));
    rows.set('cr_5', 'n0040b');
    source.applyEvents(told('UPDATED', 'cr_5'));
    await ask();
    expect(loaded()).toEqual(shown());
    const kept = source.rows.filter((row) => before.get(row.id) !== undefined && row.id !== 'cr_5');
    expect(kept.map(({ id }) => id)).toEqual(loaded().filter((id) => id !== 'cr_5'));
  });

  test('shows a row that begins to fit, and drops one that no longer does', async () => {
    const { source, rows, ask, loaded, shown } = orderedTable(['-hidden', ...names(20)]);
    await ask();
    rows.set('cr_0', 'n0007b');
    rows.set('cr_3', '-gone');
    source.applyEvents([...told('UPDATED', 'cr_0'), ...told('UPDATED', 'cr_3')]);
    await ask();
    expect(loaded()).toEqual(shown());
    expect(source.totalCount).toBe(20);
  });

  test('asks for the total when an object that it does not show is deleted', async () => {
    const { source, rows, ask } = orderedTable(['-hidden', ...names(20)]);
    await ask();
    rows.delete('cr_0');
    source.applyEvents(told('DELETED', 'cr_0'));
    expect(source.totalCount).toBe(20);
    await ask();
    expect(source.totalCount).toBe(20);
  });

  test('goes on from the row before when the row that a page begins behind is gone', async () => {
    const { source, rows, ask, loaded, shown } = orderedTable(names(150));
    await ask();
    rows.delete('cr_99');
    expect(source.requestNextPage()).toBe(true);
    await ask();
    expect(loaded()).toEqual(shown());
  });
});

describe('the selection of rows', () => {
  const selectionOf = (...loaded: string[]) => Object.assign(new RowSelection(), { loaded });

  test('extends from the row that was toggled last', () => {
    const selection = selectionOf('a', 'b', 'c', 'd');
    selection.toggle('d');
    selection.extendTo('b');
    expect(selection.ids.toSorted()).toEqual(['b', 'c', 'd']);
    selection.toggle('c');
    expect(selection.ids.toSorted()).toEqual(['b', 'd']);
  });

  test('of all that match has rows that are not loaded, until one is left out', () => {
    const selection = selectionOf('a', 'b');
    selection.selectEverything();
    expect([selection.isEverything, selection.has('z')]).toEqual([true, true]);
    selection.toggle('a');
    expect([selection.isEverything, selection.has('z'), ...selection.ids]).toEqual([false, false, 'b']);
  });

  test('of all that are loaded is taken back by the same act, and forgets rows that are gone', () => {
    const selection = selectionOf('a', 'b');
    selection.toggleLoaded();
    expect(selection.count.value).toBe(2);
    selection.loaded = ['b'];
    selection.keepLoaded();
    expect(selection.ids).toEqual(['b']);
    selection.toggleLoaded();
    expect(selection.count.value).toBe(0);
  });
});
