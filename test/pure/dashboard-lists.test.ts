import { describe, expect, test } from 'vitest';
import { ListSource } from '../../src/dashboard/data/lists/list-source.ts';

interface Row {
  id: string;
  text: string;
}

/** A list of the API: the newest first, in pages, with ids as cursors. */
function table(count: number) {
  let rows: Row[] = [];
  let serial = 0;
  let meanwhile: (() => void) | undefined;
  const asked: { first: number; after: string | undefined }[] = [];
  const add = () => {
    serial += 1;
    const row = { id: `ep_${String(serial).padStart(6, '0')}`, text: 'as it began' };
    rows.unshift(row);
    return row.id;
  };
  for (let index = 0; index < count; index += 1) add();
  const source = new ListSource<Row>();
  const ask = () => source.fetchMissing(askPage);
  async function askPage(first: number, after: string | undefined) {
    asked.push({ first, after });
    const rest = rows.filter(({ id }) => after === undefined || id < after);
    const nodes = rest.slice(0, first).map((row) => ({ ...row }));
    const totalCount = rows.length;
    meanwhile?.();
    meanwhile = undefined;
    return { nodes, pageInfo: { hasNextPage: rest.length > first }, totalCount };
  }
  return {
    source,
    ask,
    asked,
    add,
    idAt: (index: number) => rows[index]?.id ?? '',
    change: (id: string) => {
      rows = rows.map((row) => (row.id === id ? { ...row, text: 'changed' } : row));
    },
    remove: (id: string) => {
      rows = rows.filter((row) => row.id !== id);
    },
    ids: () => rows.map(({ id }) => id),
    /** Runs after the next page was read and before the response arrives. */
    beforeAnswer: (act: () => void) => {
      meanwhile = act;
    },
  };
}

const told = (action: 'CREATED' | 'UPDATED' | 'DELETED', ...ids: string[]) =>
  ids.map((objectId) => ({ kind: 'endpoint', action, objectId }));

describe('a list of the dashboard', () => {
  test('has each row once and in order after all pages were loaded', async () => {
    const { source, ask, ids } = table(250);
    await ask();
    expect(source.rows).toHaveLength(100);
    for (const known of [200, 250]) {
      expect(source.requestNextPage()).toBe(true);
      await ask();
      expect(source.rows).toHaveLength(known);
    }
    expect(source.requestNextPage()).toBe(false);
    expect(source.rows.map(({ id }) => id)).toEqual(ids());
    expect(source.totalCount).toBe(250);
  });

  test('adds new rows at its top, and keeps the identity of unchanged rows', async () => {
    const { source, ask, add, ids } = table(150);
    await ask();
    source.requestNextPage();
    await ask();
    const before = source.rows;
    source.applyEvents(told('CREATED', add(), add()));
    await ask();
    expect(source.rows.map(({ id }) => id)).toEqual(ids());
    expect(source.rows.slice(2).every((row, index) => row === before[index])).toBe(true);
  });

  test('loads changed rows again only when they are visible', async () => {
    const { source, ask, change, idAt, asked } = table(300);
    await ask();
    source.requestNextPage();
    await ask();
    source.setVisibleRange(20, 40);
    const far = idAt(150);
    for (const id of [idAt(25), idAt(30), far]) {
      change(id);
      source.applyEvents(told('UPDATED', id));
    }
    asked.length = 0;
    await ask();
    expect(asked).toEqual([{ first: 6, after: idAt(24) }]);
    expect(source.rows[30]?.text).toBe('changed');
    expect(source.rows[150]?.text).toBe('as it began');
    expect(source.setVisibleRange(140, 160)).toBe(true);
    await ask();
    expect(source.rows[150]?.text).toBe('changed');
  });

  test('removes deleted rows at once, without a request', async () => {
    const { source, ask, remove, idAt, asked, ids } = table(50);
    await ask();
    asked.length = 0;
    const gone = [idAt(3), idAt(49)];
    for (const id of gone) remove(id);
    expect(source.applyEvents(told('DELETED', ...gone))).toBe(true);
    expect(source.rows.map(({ id }) => id)).toEqual(ids());
    expect(source.totalCount).toBe(48);
    await ask();
    expect(asked).toEqual([]);
  });

  test('finds new, deleted and changed rows after a gap in the change feed', async () => {
    const { source, ask, add, remove, change, idAt, ids } = table(80);
    await ask();
    add();
    remove(idAt(10));
    change(idAt(20));
    source.applyEvents('gap');
    await ask();
    expect(source.rows.map(({ id }) => id)).toEqual(ids());
    expect(source.rows[20]?.text).toBe('changed');
  });

  test('starts again when there are more new rows than a page holds, so that it has no gap', async () => {
    const { source, ask, add, ids } = table(150);
    await ask();
    for (let index = 0; index < 230; index += 1) add();
    source.applyEvents('gap');
    await ask();
    while (source.requestNextPage()) await ask();
    expect(source.rows.map(({ id }) => id)).toEqual(ids());
  });

  test('stays correct under changes of all kinds while it is scrolled', async () => {
    const { source, ask, add, remove, change, idAt, ids } = table(400);
    await ask();
    for (let round = 0; round < 200; round += 1) {
      const place = (round * 37) % 300;
      const id = idAt(place);
      if (round % 3 === 0) source.applyEvents(told('CREATED', add()));
      else if (round % 3 === 1) {
        remove(id);
        source.applyEvents(told('DELETED', id));
      } else {
        change(id);
        source.applyEvents(told('UPDATED', id));
      }
      source.setVisibleRange(place, place + 30);
      if (round % 20 === 0) source.requestNextPage();
      await ask();
    }
    while (source.requestNextPage()) await ask();
    expect(source.rows.map(({ id }) => id)).toEqual(ids());
  });

  test('can start empty, grow and become empty again', async () => {
    const { source, ask, add, remove } = table(0);
    await ask();
    expect(source.rows).toEqual([]);
    const id = add();
    source.applyEvents(told('CREATED', id));
    await ask();
    expect(source.rows).toHaveLength(1);
    remove(id);
    source.applyEvents(told('DELETED', id));
    expect(source.rows).toEqual([]);
  });

  test('loads all visible rows again when an object of another kind changed', async () => {
    const { source, ask, change, idAt } = table(30);
    await ask();
    change(idAt(5));
    source.applyEvents([{ kind: 'tunnelSession', action: 'UPDATED', objectId: 'ts_1' }]);
    await ask();
    expect(source.rows[5]?.text).toBe('changed');
  });

  test('keeps only as many rows as were scrolled through, however many are added at the top', async () => {
    const { source, ask, add, ids } = table(120);
    await ask();
    for (let round = 0; round < 50; round += 1) {
      source.applyEvents(told('CREATED', ...Array.from({ length: 20 }, add)));
      await ask();
    }
    expect(source.rows.length).toBeLessThanOrEqual(200);
    expect(source.totalCount).toBe(1120);
    while (source.requestNextPage()) await ask();
    expect(source.rows.map(({ id }) => id)).toEqual(ids());
  });

  test('prefers changes that arrive during a request over its older response', async () => {
    const { source, ask, change, remove, idAt, ids, beforeAnswer } = table(20);
    await ask();
    source.applyEvents('gap');
    const [gone, changed] = [idAt(4), idAt(7)];
    beforeAnswer(() => {
      remove(gone);
      change(changed);
      source.applyEvents([...told('DELETED', gone), ...told('UPDATED', changed)]);
    });
    await ask();
    expect(source.rows.map(({ id }) => id)).toEqual(ids());
    await ask();
    expect(source.rows.find(({ id }) => id === changed)?.text).toBe('changed');
  });
});
