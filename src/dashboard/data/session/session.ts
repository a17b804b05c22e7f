// Who is signed in. One page has one session, so it is kept here once for all.

import { signal } from '@preact/signals';
import { SignOut, Viewer, type ViewerFactsFragment } from '../../generated/operations.ts';
import { execute, onUnauthenticated } from '../client/client.ts';
import { storePageSecret } from '../client/page-secret.ts';
import { clearListCache } from '../lists/list-cache.ts';
import { closeChangeFeed, openChangeFeed } from '../live/change-feed.ts';

/** Who is signed in: null for nobody, undefined as long as that isn't known. */
export const viewer = signal<ViewerFactsFragment | null | undefined>(undefined);

/** Asks the gateway who is signed in. @throws ApiFailure */
export async function loadViewer(): Promise<void> {
  const facts = (await execute(Viewer, {})).viewer ?? null;
  if (!facts) storePageSecret(null);
  setViewer(facts);
}

/** A session began here, or goes on with another secret: what this page proves it with is kept before anything else is asked. */
export function startSession({ pageSecret, ...facts }: ViewerFactsFragment & { pageSecret: string | null }): void {
  storePageSecret(pageSecret);
  setViewer(facts);
}

/** Somebody signed in, or nobody did. */
export function setViewer(facts: ViewerFactsFragment | null): void {
  viewer.value = facts;
  if (facts) {
    openChangeFeed();
    return;
  }
  closeChangeFeed();
  clearListCache();
}

/** Ends this browser's session. @throws ApiFailure */
export async function signOut(): Promise<void> {
  await execute(SignOut, {});
  storePageSecret(null);
  setViewer(null);
}

/** What the viewer is called on screen. */
export function viewerName({ user }: ViewerFactsFragment): string {
  return user.__typename === 'User' ? user.email : user.name;
}

// Only a session can be lost: a stranger who is refused is told so by the form that asked.
onUnauthenticated(() => viewer.value && setViewer(null));
