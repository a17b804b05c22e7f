// The search over all objects and screens, opened by `/` or Ctrl-K.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useDebounced } from '../data/hooks/use-debounced.ts';
import { useQuery } from '../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../data/routing/paths.ts';
import { Search } from '../generated/operations.ts';
import { Toasts } from '../ui/feedback/toast.tsx';
import { useModal } from '../ui/feedback/use-modal.ts';
import type { NavItem } from './nav-item.ts';

/** The debounce time of the search. */
const DEBOUNCE_MS = 150;
const MAX_HITS = 20;

interface Hit {
  href: string;
  title: string;
  detail: string;
  kind: string;
}

export function SearchPalette({ navItems, onClose }: { navItems: readonly NavItem[]; onClose: () => void }) {
  const { route } = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const searchText = useDebounced(text.trim(), DEBOUNCE_MS);
  const { data, error } = useQuery(
    Search,
    { text: searchText, first: MAX_HITS },
    { skip: searchText === '', keepPreviousData: true },
  );

  const objectHits = searchText === '' ? [] : (data?.search ?? []).map(toHit);
  const hits = [...matchingNavItems(navItems, text), ...objectHits];
  const current = Math.min(selected, hits.length - 1);

  useModal(dialog);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  });

  function go(hit: Hit | undefined) {
    if (!hit) return;
    onClose();
    route(hit.href);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.target instanceof HTMLButtonElement) return; // The button of a toast handles its own keys.
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) setSelected((current + step + hits.length) % hits.length);
    else if (event.key === 'Enter') go(hits[current]);
    else return;
    event.preventDefault();
  }

  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label="Search"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={onKeyDown}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Search everything"
        aria-expanded={hits.length > 0}
        aria-controls={`${id}-hits`}
        aria-activedescendant={hits.length > 0 ? `${id}-${current}` : undefined}
        placeholder="A name, an address, an id …"
        maxLength={200}
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setSelected(0);
        }}
      />
      <div id={`${id}-hits`} class="hits" role="listbox" aria-label="What was found">
        {hits.map((hit, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are heard by the dialog
          <div
            key={hit.href}
            id={`${id}-${index}`}
            class="hit"
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            onClick={() => go(hit)}
          >
            <span class="hit-kind">{hit.kind}</span>
            <span class="hit-title">{hit.title}</span>
            <span class="hit-detail">{hit.detail}</span>
          </div>
        ))}
      </div>
      <p class="palette-footer" role="status">
        {error?.message ??
          (hits.length === 0 && searchText !== '' && data ? 'Nothing was found.' : '↑ ↓ to choose, Enter to go')}
      </p>
      <Toasts within={dialog} />
    </dialog>
  );
}

function matchingNavItems(navItems: readonly NavItem[], text: string): Hit[] {
  const needle = text.trim().toLowerCase();
  return navItems
    .filter(({ title }) => title.toLowerCase().includes(needle))
    .map(({ folder, title }) => ({ href: pathTo(folder), title, detail: '', kind: 'place' }));
}

function toHit({ kind, id, title, detail }: { kind: string; id: string; title: string; detail: string }): Hit {
  return { href: objectPath(kind, id), title: title || id, detail, kind: kindLabel(kind) };
}

/** The display name of a kind of object: `bot user` for `botUser`, `API key` for `apiKey`. */
function kindLabel(kind: string): string {
  const spaced = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return spaced.replace(/\b(api|https|ip|tls)\b/g, (word) => word.toUpperCase());
}
