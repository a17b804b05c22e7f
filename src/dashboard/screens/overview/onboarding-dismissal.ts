// Whether the first steps are put away: for each user of this browser.

import { signal } from '@preact/signals';

const PREFIX = 'first-steps-dismissed-';

/** The users who put the first steps away. */
const dismissed = signal<ReadonlySet<string>>(new Set());

export function isDismissed(userId: string): boolean {
  if (dismissed.value.has(userId)) return true;
  try {
    return localStorage.getItem(PREFIX + userId) !== null;
  } catch {
    return false;
  }
}

export function dismiss(userId: string): void {
  dismissed.value = new Set([...dismissed.value, userId]);
  try {
    localStorage.setItem(PREFIX + userId, '1');
  } catch {
    // Without storage it lasts until the page is closed.
  }
}
