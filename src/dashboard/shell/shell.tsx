// What stands around every screen: the navigation, the search, and whether changes arrive.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { BASE } from '../data/addresses.ts';
import { ConnectionState } from './connection-state.tsx';
import { MenuIcon, SearchIcon } from './icons.tsx';
import { Navigation } from './navigation.tsx';
import { Palette } from './palette.tsx';
import type { Place } from './place.ts';

interface ShellProps {
  places: readonly Place[];
  children: ComponentChildren;
}

export function Shell({ places, children }: ShellProps) {
  const { path } = useLocation();
  const isSearching = useSignal(false);
  const isMenuOpen = useSignal(false);

  useEffect(() => {
    isMenuOpen.value = false;
  }, [path]);

  useEffect(() => {
    function pressed(event: KeyboardEvent) {
      const isCommand = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
      if (event.key === 'Escape') isMenuOpen.value = false;
      if ((!isCommand && !isSlash) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      isSearching.value = true;
    }
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, [isSearching, isMenuOpen]);

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
        <a class="brand" href={`${BASE}/endpoints`}>
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
      <Navigation places={places} isOpen={isMenuOpen.value} />
      <main id="content" class="content" tabIndex={-1}>
        {children}
      </main>
      {isSearching.value && (
        <Palette
          places={places}
          onClose={() => {
            isSearching.value = false;
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
