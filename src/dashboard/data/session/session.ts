// Who is signed in. One page has one session, so it is kept here once for all.

import { signal } from '@preact/signals';
import { SignOut, Viewer, type ViewerFactsFragment } from '../../generated/operations.ts';
import { onStranger, run } from '../client/client.ts';
import { keepPageSecret } from '../client/page-secret.ts';
import { forgetLists } from '../lists/list-cache.ts';
import { goLive, goQuiet } from '../live/change-feed.ts';

/** Who is signed in: null for nobody, undefined as long as that isn't known. */
export const viewer = signal<ViewerFactsFragment | null | undefined>(undefined);

/** Asks the gateway who is signed in. @throws ApiFailure */
export async function meetViewer(): Promise<void> {
  const facts = (await run(Viewer, {})).viewer ?? null;
  if (!facts) keepPageSecret(null);
  welcome(facts);
}

/** A session began here, or goes on with another secret: what this page proves it with is kept before anything else is asked. */
export function begin({ pageSecret, ...facts }: ViewerFactsFragment & { pageSecret: string | null }): void {
  keepPageSecret(pageSecret);
  welcome(facts);
}

/** Somebody signed in, or nobody did. */
export function welcome(facts: ViewerFactsFragment | null): void {
  viewer.value = facts;
  if (facts) {
    goLive();
    return;
  }
  goQuiet();
  forgetLists();
}

/** Ends this browser's session. @throws ApiFailure */
export async function signOut(): Promise<void> {
  await run(SignOut, {});
  keepPageSecret(null);
  welcome(null);
}

/** What the viewer is called on screen. */
export function nameOf({ user }: ViewerFactsFragment): string {
  return user.__typename === 'User' ? user.email : user.name;
}

// Only a session can be lost: a stranger who is refused is told so by the form that asked.
onStranger(() => viewer.value && welcome(null));
