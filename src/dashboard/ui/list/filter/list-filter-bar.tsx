// The filter of a list: words, conditions as chips, and the same as text.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useDebounced } from '../../../data/hooks/use-debounced.ts';
import { Button } from '../../button.tsx';
import { Menu } from '../menu.tsx';
import type { ListView } from '../use-list-view.ts';
import { ExpressionField } from './expression-field.tsx';
import { TermEditor } from './term-editor.tsx';
import { type Comparison, readTerms, type Term, writeTerms } from './terms.ts';
import { useMembers } from './use-members.ts';
import { termTitle } from './words.ts';

const TYPING_MS = 300;

interface ListFilterBarProps<Row> {
  view: ListView<Row>;
  /** What is listed, in the plural: `credentials`. */
  noun: string;
  /** A control that chooses rows by more than a filter can. */
  ownControl?: ComponentChildren;
  /** Menus that are not about the filter. */
  children: ComponentChildren;
}

export function ListFilterBar<Row>({ view, noun, ownControl, children }: ListFilterBarProps<Row>) {
  const { kind, list, state, change } = view;
  const [openMenu, setOpenMenu] = useState<'new' | number>();
  const filterError = list.error?.field === 'filter' ? list.error : undefined;
  const [isText, setText] = useState(false);
  const members = useMembers(kind, openMenu !== undefined || state.filter.includes('owner_id'));
  const terms = readTerms(state.filter, members);
  const write = (next: readonly Term[]) => {
    change({ filter: writeTerms(next) });
    setOpenMenu(undefined);
  };
  const replace = (index: number, ...by: Term[]) => write(terms.toSpliced(index, 1, ...by));
  return (
    <search class="list-bar" aria-label={`Find ${noun}`}>
      <div class="list-bar-line">
        <SearchField view={view} noun={noun} />
        {ownControl}
        {members.length > 0 && (
          <Menu
            title="Add a filter"
            label="New filter"
            isOpen={openMenu === 'new'}
            onToggle={(isOpen) => setOpenMenu(isOpen ? 'new' : undefined)}
          >
            <TermEditor members={members} onDone={(term) => write([...terms, term])} />
          </Menu>
        )}
        <button
          type="button"
          class="button"
          aria-expanded={isText}
          aria-label="Filter as text"
          title="Filter as text, in CEL"
          onClick={() => setText(!isText)}
        >
          <code>{'{ }'}</code>
        </button>
        <div class="list-menus">{children}</div>
      </div>
      {terms.length > 0 && (
        <ul class="chips" aria-label="Filters">
          {terms.map((term, index) => (
            <li key={`${index} ${'expression' in term ? term.expression : term.operator.id}`} class="chip">
              {'expression' in term ? (
                <button type="button" class="chip-text" onClick={() => setText(true)}>
                  <code>{term.expression}</code>
                </button>
              ) : (
                <EditableChip
                  term={term}
                  isOpen={openMenu === index}
                  title={termTitle(term, members)}
                  onToggle={(isOpen) => setOpenMenu(isOpen ? index : undefined)}
                >
                  <TermEditor members={members} comparison={term} onDone={(changed) => replace(index, changed)} />
                </EditableChip>
              )}
              <button
                type="button"
                class="chip-remove"
                aria-label={`Remove the filter ${termTitle(term, members)}`}
                onClick={() => replace(index)}
              >
                ✕
              </button>
            </li>
          ))}
          <li>
            <Button variant="plain" onClick={() => change({ filter: '', search: '' })}>
              Clear
            </Button>
          </li>
        </ul>
      )}
      {(isText || filterError) && (
        <ExpressionField
          key={state.filter}
          filter={state.filter}
          members={members}
          error={filterError?.message}
          onChange={(filter) => change({ filter })}
        />
      )}
    </search>
  );
}

interface EditableChipProps {
  term: Comparison;
  title: string;
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
  children: ComponentChildren;
}

function EditableChip({ title, isOpen, onToggle, children }: EditableChipProps) {
  return (
    <Menu title={title} label={`Change the filter ${title}`} isOpen={isOpen} onToggle={onToggle}>
      {children}
    </Menu>
  );
}

/** The words to look for. They go to the URL when the user pauses, in the place of the words before. */
function SearchField<Row>({ view: { list, state, change }, noun }: Pick<ListFilterBarProps<Row>, 'view' | 'noun'>) {
  const [typed, setTyped] = useState(state.search);
  const settled = useDebounced(typed, TYPING_MS);
  const sent = useRef(state.search);
  useEffect(() => {
    if (settled !== typed || settled === state.search) return;
    sent.current = settled;
    change({ search: settled }, true);
  }, [settled]);
  // The back button and saved views change it from outside.
  useEffect(() => {
    if (state.search !== sent.current) setTyped(state.search);
    sent.current = state.search;
  }, [state.search]);
  const error = list.error?.field === 'search' ? list.error.message : undefined;
  return (
    <div class="list-search">
      <input
        type="search"
        value={typed}
        placeholder={`Find ${noun} …`}
        aria-label={`Find ${noun} by words`}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? 'search-error' : undefined}
        maxLength={200}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {error && (
        <p id="search-error" class="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
