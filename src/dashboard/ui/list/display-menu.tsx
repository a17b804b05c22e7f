import { useState } from 'preact/hooks';
import { directionOf } from '../../data/routing/list-state.ts';
import type { Column } from '../table/table.tsx';
import { memberTitle } from './filter/words.ts';
import { Menu } from './menu.tsx';
import type { ListView } from './use-list-view.ts';

interface DisplayMenuProps<Row> {
  view: ListView<Row>;
  columns: readonly Column<Row>[];
}

/** The order of a list, which small screens have no column titles for, and its columns. */
export function DisplayMenu<Row>({ view: { kind, state, change }, columns }: DisplayMenuProps<Row>) {
  const [isOpen, setOpen] = useState(false);
  const hidden = hiddenKeys(state.hide);
  const ordered = (kind?.members ?? []).filter(({ isOrdered, name }) => isOrdered && name !== 'id');
  const toggle = (key: string) => {
    const next = hidden.has(key) ? [...hidden].filter((other) => other !== key) : [...hidden, key];
    change({ hide: next.join(',') }, true);
  };
  const optional = columns.slice(1);
  return (
    <Menu title="Display" label="Order and columns" isOpen={isOpen} onToggle={setOpen} isAtEnd>
      {ordered.length > 0 && (
        <label class="menu-select">
          Order
          <select value={state.order} onChange={({ currentTarget }) => change({ order: currentTarget.value })}>
            <option value="" selected={state.order === ''}>
              Newest first
            </option>
            {ordered.flatMap(({ name }) =>
              (['asc', 'desc'] as const).map((direction) => (
                <option
                  key={`${name} ${direction}`}
                  value={`${name} ${direction}`}
                  selected={directionOf(state.order, name) === `${direction}ending`}
                >
                  {memberTitle(name)} {direction === 'asc' ? '↑' : '↓'}
                </option>
              )),
            )}
          </select>
        </label>
      )}
      <fieldset class="menu-checks">
        <legend>Columns</legend>
        {optional.map(({ key, title }) => (
          <label key={key}>
            <input type="checkbox" checked={!hidden.has(key)} onChange={() => toggle(key)} /> {title}
          </label>
        ))}
      </fieldset>
      <p class="help">Narrow screens leave out some columns by themselves.</p>
    </Menu>
  );
}

/** The keys of the columns that the URL hides. */
export function hiddenKeys(hide: string): ReadonlySet<string> {
  return new Set(hide.split(',').filter(Boolean));
}
