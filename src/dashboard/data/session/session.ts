// The session of this page: who is signed in.

import { signal } from '@preact/signals';
import { SignOut, Viewer, type ViewerFactsFragment } from '../../generated/operations.ts';
import { execute, onUnauthenticated } from '../client/client.ts';
import { storePageSecret } from '../client/page-secret.ts';
import { clearListCache } from '../lists/list-cache.ts';
import { clearListKinds } from '../lists/list-kinds.ts';
import { closeChangeFeed, openChangeFeed } from '../live/change-feed.ts';

/** Who is signed in: null for nobody, undefined until it is known. */
export const viewer = signal<ViewerFactsFragment | null | undefined>(undefined);

/** Loads the viewer. @throws ApiFailure */
export async function loadViewer(): Promise<void> {
  const facts = (await execute(Viewer, {})).viewer ?? null;
  if (!facts) storePageSecret(null);
  setViewer(facts);
}

/**
 * Starts a session, or continues it with a new page secret. The secret is stored first, because the next requests need
 * it.
 */
export function startSession({ pageSecret, ...facts }: ViewerFactsFragment & { pageSecret: string | null }): void {
  storePageSecret(pageSecret);
  setViewer(facts);
}

/** Sets the viewer, and opens or closes the change feed. */
export function setViewer(facts: ViewerFactsFragment | null): void {
  viewer.value = facts;
  if (facts) {
    openChangeFeed();
    return;
  }
  closeChangeFeed();
  clearListCache();
  clearListKinds();
}

/** Signs this browser out. @throws ApiFailure */
export async function signOut(): Promise<void> {
  await execute(SignOut, {});
  storePageSecret(null);
  setViewer(null);
}

/** Whether the viewer may read the bodies of captured requests, and replay them. */
export function mayReadBodies(): boolean {
  return viewer.value?.user.mayReadBodies === true;
}

/** The name of the viewer on screen. */
export function viewerName({ user }: ViewerFactsFragment): string {
  return user.__typename === 'User' ? user.email : user.name;
}

// Without a session there is none to end: the sign-in form shows the error itself.
onUnauthenticated(() => viewer.value && setViewer(null));
