// The way to the provider for single sign-on and back. The provider sends the browser to the sign-in page; the tab keeps meanwhile what
// the answer is for, so that an answer that another page begins signs nobody in.

import { signal } from '@preact/signals';
import { requestedUrl } from './requested-url.ts';

const KEY = 'single-sign-on';

interface Kept {
  attempt: string;
  /** Where the user wanted to go. */
  to: string;
}

/** The answer of the provider, once. */
export interface SingleSignOnAnswer {
  attempt: string;
  query: string;
}

/** The answer that is not yet used; null if there is none. */
export const singleSignOnAnswer = signal<SingleSignOnAnswer | null>(null);

/** Moves an answer of the provider from the URL into memory, so that no history contains it. */
export function captureSingleSignOn(): void {
  const { pathname, search } = window.location;
  if (!pathname.endsWith('/sign-in') || !new URLSearchParams(search).has('state')) return;
  history.replaceState(null, '', pathname);
  const { attempt, to } = takeKept();
  requestedUrl.value = to ?? requestedUrl.value;
  singleSignOnAnswer.value = { attempt: attempt ?? '', query: search.slice(1) };
}

/** Goes to the provider. @param url its page. @param attempt what the answer will be for. */
export function goToProvider(url: string, attempt: string): void {
  sessionStorage.setItem(KEY, JSON.stringify({ attempt, to: requestedUrl.value } satisfies Kept));
  window.location.assign(url);
}

function takeKept(): Partial<Kept> {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Partial<Kept>;
    sessionStorage.removeItem(KEY);
    return kept;
  } catch {
    return {}; // The browser keeps nothing for pages.
  }
}
