// Search over everything, by keyboard: `/` or Ctrl-K.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../data/hooks/use-query.ts';
import { addressOf, pathOf } from '../data/routing/paths.ts';
import { Search } from '../generated/operations.ts';
import { Toasts } from '../ui/feedback/toast.tsx';
import { useModal } from '../ui/feedback/use-modal.ts';
import type { Place } from './nav-item.ts';

/** What is typed quickly is asked for once. */
const PAUSE_MS = 150;
const MOST = 20;

interface Hit {
  href: string;
  title: string;
  detail: string;
  kind: string;
}

export function Palette({ places, onClose }: { places: readonly Place[]; onClose: () => void }) {
  const { route } = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const asked = usePaused(text.trim());
  const { data, error } = useQuery(Search, { text: asked, first: MOST }, { isOff: asked === '', keepsData: true });

  const found = asked === '' ? [] : (data?.search ?? []).map(hitOf);
  const hits = [...placesNamed(places, text), ...found];
  const current = Math.min(chosen, hits.length - 1);

  useModal(dialog);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  });

  function go(hit: Hit | undefined) {
    if (!hit) return;
    onClose();
    route(hit.href);
  }

  function pressed(event: KeyboardEvent) {
    if (event.target instanceof HTMLButtonElement) return; // that of a message
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) setChosen((current + step + hits.length) % hits.length);
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
      onKeyDown={pressed}
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
          setChosen(0);
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
      <p class="palette-foot" role="status">
        {error?.message ??
          (hits.length === 0 && asked !== '' && data ? 'Nothing was found.' : '↑ ↓ to choose, Enter to go')}
      </p>
      <Toasts within={dialog} />
    </dialog>
  );
}

function placesNamed(places: readonly Place[], text: string): Hit[] {
  const wanted = text.trim().toLowerCase();
  return places
    .filter(({ title }) => title.toLowerCase().includes(wanted))
    .map(({ folder, title }) => ({ href: pathOf(folder), title, detail: '', kind: 'place' }));
}

function hitOf({ kind, id, title, detail }: { kind: string; id: string; title: string; detail: string }): Hit {
  return { href: addressOf(kind, id), title: title || id, detail, kind: wordsOf(kind) };
}

/** A text once nobody types any more. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const wait = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(wait);
  }, [text]);
  return paused;
}

/** What a kind of object is called: `botUser` is a bot user, `apiKey` an API key. */
function wordsOf(kind: string): string {
  const words = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace(/\b(api|https|ip|tls)\b/g, (word) => word.toUpperCase());
}
