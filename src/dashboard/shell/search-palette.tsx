// The search over all objects, screens and actions, opened by `/` or Ctrl-K.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useDebounced } from '../data/hooks/use-debounced.ts';
import { useQuery } from '../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../data/routing/paths.ts';
import { Search, type SearchQuery } from '../generated/operations.ts';
import { Toasts } from '../ui/feedback/toast.tsx';
import { useModal } from '../ui/feedback/use-modal.ts';
import { askBeforeLeaving } from '../ui/unsaved/unsaved-work.ts';
import type { NavItem } from './nav-item.ts';
import { matchingActions } from './palette-actions.ts';

/** The debounce time of the search. */
const DEBOUNCE_MS = 150;
const MAX_HITS = 20;

interface Hit {
  /** It is the same while the text changes. */
  key: string;
  href?: string;
  run?: () => void;
  title: string;
  detail: string;
  kind: string;
}

interface SearchPaletteProps {
  navItems: readonly NavItem[];
  showShortcuts: () => void;
  onClose: () => void;
}

export function SearchPalette({ navItems, showShortcuts, onClose }: SearchPaletteProps) {
  const { route } = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [text, setText] = useState('');
  /** The hit that was chosen by the arrow keys; without one it is the first. */
  const [chosen, setChosen] = useState('');
  const [isEntered, setEntered] = useState(false);
  const searchText = useDebounced(text.trim(), DEBOUNCE_MS);
  const { data, error, isPrevious } = useQuery(
    Search,
    { text: searchText, first: MAX_HITS },
    { skip: searchText === '', keepPreviousData: true },
  );

  const objectHits = searchText === '' ? [] : (data?.search ?? []).map(toHit);
  // What the dashboard itself has does not wait for the gateway.
  const ownHits = [...matchingNavItems(navItems, text), ...actionHits(text, showShortcuts)];
  const hits = [...ownHits, ...objectHits];
  const found = hits.findIndex(({ key }) => key === chosen);
  const current = Math.max(0, found);
  const isCurrentText = searchText === text.trim() && !isPrevious && (searchText === '' || Boolean(data ?? error));

  useModal(dialog);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  });

  // Enter may come before the hits of the text that was typed.
  useEffect(() => {
    if (!isEntered || !isCurrentText) return;
    setEntered(false);
    go(hits[current]);
  });

  function go(hit: Hit | undefined) {
    if (!hit) return;
    const { href, run } = hit;
    onClose();
    if (href === undefined) run?.();
    else askBeforeLeaving(() => route(href));
  }

  function enter() {
    if (isCurrentText || (chosen === '' && ownHits.length > 0)) go(hits[current]);
    else setEntered(true);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.target instanceof HTMLButtonElement) return; // The button of a toast handles its own keys.
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) setChosen(hits[(current + step + hits.length) % hits.length]?.key ?? '');
    else if (event.key === 'Enter') enter();
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
      onClose={onClose}
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
          setChosen('');
          setEntered(false);
        }}
      />
      <div id={`${id}-hits`} class="hits" role="listbox" aria-label="What was found">
        {hits.map((hit, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are heard by the dialog
          <div
            key={hit.key}
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
        {error?.message ?? footerText(isEntered, hits.length === 0 && searchText !== '' && isCurrentText)}
      </p>
      <Toasts within={dialog} />
    </dialog>
  );
}

function matchingNavItems(navItems: readonly NavItem[], text: string): Hit[] {
  const needle = text.trim().toLowerCase();
  return navItems
    .filter(({ title }) => title.toLowerCase().includes(needle))
    .map(({ folder, title }) => ({ key: folder, href: pathTo(folder), title, detail: '', kind: 'place' }));
}

function actionHits(text: string, showShortcuts: () => void): Hit[] {
  return matchingActions(text, showShortcuts).map((action) => ({
    ...action,
    key: action.title,
    detail: '',
    kind: 'action',
  }));
}

function footerText(isWaiting: boolean, isNothingFound: boolean): string {
  if (isWaiting) return 'Searching …';
  return isNothingFound ? 'Nothing was found.' : '↑ ↓ to choose, Enter to go';
}

function toHit({ kind, objectId, title, detail }: NonNullable<SearchQuery['search']>[number]): Hit {
  return { key: objectId, href: objectPath(kind, objectId), title: title || objectId, detail, kind: kindLabel(kind) };
}

/** The display name of a kind of object: `bot user` for `botUser`, `API key` for `apiKey`. */
function kindLabel(kind: string): string {
  const spaced = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return spaced.replace(/\b(api|https|ip|tls)\b/g, (word) => word.toUpperCase());
}
