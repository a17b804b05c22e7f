// Drafts of forms, kept for a reload and for a session that ended, in this tab only and by account. A form never gives
// secrets here.

import { viewer } from './session.ts';

const PREFIX = 'draft:';
const MAX_DRAFTS = 20;
/** Longer drafts are not kept; the storage of a tab has five million characters. */
const MAX_LENGTH = 200_000;

export interface Draft {
  /** The values that the object had when the change began. */
  base: object;
  values: object;
}

/** The key of a form's draft, for the account that is signed in now. @param form `credential cr_…` */
export function draftKey(form: string): string {
  return `${PREFIX}${viewer.peek()?.user.id ?? ''}:${form}`;
}

export function readDraft(key: string): Draft | undefined {
  try {
    const draft = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Draft> | null;
    return draft?.base && draft.values ? { base: draft.base, values: draft.values } : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a draft; undefined removes it. Where the browser denies storage, nothing is kept. */
export function keepDraft(key: string, draft: Draft | undefined): void {
  try {
    const text = draft && JSON.stringify(draft);
    if (text === undefined || text.length > MAX_LENGTH) {
      sessionStorage.removeItem(key);
      return;
    }
    const others = draftKeys().filter((other) => other !== key);
    for (const other of others.slice(MAX_DRAFTS - 1)) sessionStorage.removeItem(other);
    sessionStorage.setItem(key, text);
  } catch {
    // The form itself still has what was typed.
  }
}

/** Removes all drafts: the user signed out, and somebody else may use the tab. */
export function removeDrafts(): void {
  try {
    for (const key of draftKeys()) sessionStorage.removeItem(key);
  } catch {
    // Without storage there are none.
  }
}

function draftKeys(): string[] {
  return Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
}
