// The frame around every screen: the header with the search, the navigation and the state of the change feed.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { connection } from '../data/live/change-feed.ts';
import { BASE_PATH } from '../data/routing/paths.ts';
import type { NavItem } from './nav-item.ts';
import { Navigation } from './navigation.tsx';
import { SearchPalette } from './search-palette.tsx';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';

interface ShellProps {
  navItems: readonly NavItem[];
  children: ComponentChildren;
}

export function Shell({ navItems, children }: ShellProps) {
  const { path } = useLocation();
  const isSearching = useSignal(false);
  const isShowingKeys = useSignal(false);
  const isMenuOpen = useSignal(false);

  useEffect(() => {
    isMenuOpen.value = false;
  }, [path]);

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const isCommand = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      const isAlone = !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
      const isSearch = isCommand || (isAlone && event.key === '/');
      const isQuestion = isAlone && event.key === '?';
      if (event.key === 'Escape') isMenuOpen.value = false;
      if ((!isSearch && !isQuestion) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      if (isSearch) isSearching.value = true;
      else isShowingKeys.value = true;
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [isSearching, isShowingKeys, isMenuOpen]);

  return (
    <div class="shell">
      <a class="skip" href="#content">
        To the content
      </a>
      <header class="bar">
        <button
          type="button"
          class="button plain menu-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen.value}
          aria-controls="navigation"
          onClick={() => {
            isMenuOpen.value = !isMenuOpen.value;
          }}
        >
          <MenuIcon />
        </button>
        <a class="brand" href={`${BASE_PATH}/overview`}>
          Tunnel Gateway
        </a>
        <button
          type="button"
          class="search-button"
          aria-keyshortcuts="/ Control+K"
          onClick={() => {
            isSearching.value = true;
          }}
        >
          <SearchIcon />
          <span class="search-word">Search</span>
          <kbd>/</kbd>
        </button>
        <ConnectionState />
      </header>
      <Navigation navItems={navItems} isOpen={isMenuOpen.value} />
      <main id="content" class="content" tabIndex={-1}>
        {children}
      </main>
      {isSearching.value && (
        <SearchPalette
          navItems={navItems}
          showShortcuts={() => {
            isShowingKeys.value = true;
          }}
          onClose={() => {
            isSearching.value = false;
          }}
        />
      )}
      {isShowingKeys.value && (
        <ShortcutsDialog
          onClose={() => {
            isShowingKeys.value = false;
          }}
        />
      )}
    </div>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function MenuIcon() {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M2 4h12M2 8h12M2 12h12" />
    </svg>
  );
}

function SearchIcon() {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.7 10.7 14 14" />
    </svg>
  );
}

/** Shorter interruptions are not shown. */
const GRACE_MS = 1500;

const WORDS = {
  live: ['Live', 'What is shown changes as it happens.'],
  connecting: ['Connecting', 'The gateway is being asked; changes may be missing.'],
  lost: ['Not connected', 'The gateway can’t be reached: what is shown may be old.'],
} as const;

/** The state of the change feed in the header. */
function ConnectionState() {
  const [shown, setShown] = useState(connection.value);
  const current = connection.value;
  useEffect(() => {
    const wait = setTimeout(() => setShown(current), current === 'connecting' ? GRACE_MS : 0);
    return () => clearTimeout(wait);
  }, [current]);
  const [word, title] = WORDS[shown];
  return (
    <span class={`connection ${shown}`} title={title} role="status">
      <span class="connection-mark" aria-hidden="true" />
      <span class="connection-word">{word}</span>
    </span>
  );
}
