// The colour theme: light, dark or the system's.

import { signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'theme';

export const theme = signal<Theme>(read());

/** Applies the stored theme to the page. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

export function setTheme(next: Theme): void {
  theme.value = next;
  applyTheme();
  try {
    if (next === 'auto') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

function read(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'auto';
  } catch {
    return 'auto';
  }
}
