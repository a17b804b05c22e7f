import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../button.tsx';
import type { ListView } from '../use-list-view.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import type { BulkAction, BulkTarget, SelectedRows } from './target.ts';

interface SelectionBarProps<Row> {
  view: ListView<Row>;
  nouns: readonly [one: string, many: string];
  consequence?: string;
  /** Buttons beside those of every list. */
  ownActions?: (selected: SelectedRows) => ComponentChildren;
}

/** The filter that leaves all objects. */
const EVERYTHING = 'true';

const TITLES: Record<BulkAction, string> = {
  DELETE: 'Delete …',
  CHANGE_OWNER: 'Change who holds them …',
  CHANGE_LABELS: 'Change labels …',
};

/** What can be done with the rows that are selected; nothing while none is. */
export function SelectionBar<Row>({ view, nouns, consequence, ownActions }: SelectionBarProps<Row>) {
  const { selection, list, kind, state, hasOwnVariables } = view;
  const [action, setAction] = useState<BulkAction>();
  const count = selection.count.value;
  const target = targetOf(view);
  const total = list.totalCount;
  const { isEverything } = selection;
  // A job is told a filter and words. Where more than these chooses the rows, it cannot be told all that match.
  const mayChange = !isEverything || !hasOwnVariables;
  const isAllLoaded = !isEverything && count === selection.loaded.length && list.hasMore && total !== undefined;
  const isOfferedMore = isAllLoaded && (!hasOwnVariables || ownActions !== undefined);
  // The dialog stays when its job has begun and nothing is selected any more.
  return (
    <>
      {count > 0 && (
        <section class="selection-bar" aria-label="Selected rows">
          <p role="status">
            {isEverything && 'All '}
            <strong>{target.count.toLocaleString('en')}</strong> {target.count === 1 ? nouns[0] : nouns[1]} selected
          </p>
          {count < selection.loaded.length && (
            <span class="narrow-only">
              <Button variant="plain" onClick={() => selection.toggleLoaded()}>
                Select the {selection.loaded.length.toLocaleString('en')} that are loaded
              </Button>
            </span>
          )}
          {isOfferedMore && (
            <Button variant="plain" onClick={() => selection.selectEverything()}>
              Select all {total.toLocaleString('en')} that match
            </Button>
          )}
          {(mayChange ? (kind?.bulkActions ?? []) : []).map((offered) => (
            <Button
              key={offered}
              variant={offered === 'DELETE' ? 'danger' : 'normal'}
              onClick={() => setAction(offered)}
            >
              {TITLES[offered]}
            </Button>
          ))}
          {ownActions?.({ count: target.count, ids: selection.ids, isEverything })}
          <Button variant="plain" onClick={() => selection.clear()}>
            Clear the selection
          </Button>
        </section>
      )}
      {action && (
        <BulkDialog
          key={action}
          target={target}
          action={action}
          nouns={nouns}
          filter={[state.filter, state.search].filter(Boolean).join(', ')}
          consequence={consequence}
          onStarted={() => selection.clear()}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  );
}

/** What a job is to work on: the rows by their ids, or all that match. */
function targetOf<Row>({ name, selection, list, state }: ListView<Row>): BulkTarget {
  if (!selection.isEverything) {
    return { list: name, count: selection.count.value, objects: { ids: [...selection.ids] } };
  }
  const { filter, search } = state;
  return {
    list: name,
    count: list.totalCount ?? selection.count.value,
    objects: { filter: filter || EVERYTHING, ...(search.trim() && { search: search.trim() }) },
  };
}
