// Light or dark: as the system has it, unless somebody chose.

import { signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'theme';

export const theme = signal<Theme>(read());

/** Shows the page as it was chosen. */
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
    // A browser that keeps nothing shows it until the page is left.
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
