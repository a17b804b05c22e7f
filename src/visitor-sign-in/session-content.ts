// What is sealed in the row of a visitor's session.

import type { VisitorSession } from '../http/visitor-sessions.ts';
import type { Keys } from '../store/keys/keys.ts';
import { sealedPlace } from '../store/visitors/app-session-rows.ts';
import type { ProviderIdentity, ProviderTokens } from './provider.ts';

/** The tokens, and who the visitor is. */
export interface SessionContent {
  tokens: ProviderTokens;
  identity: ProviderIdentity;
}

/** Seals it for the session of an id. */
export function sealContent(keys: Keys, id: string, content: SessionContent): string {
  return keys.seal(JSON.stringify(content), sealedPlace(id));
}

/** @throws when it is another session's, or the server key is another one. */
export function openContent(keys: Keys, { id, sealed }: { id: string; sealed: string }): SessionContent {
  return JSON.parse(keys.open(sealed, sealedPlace(id))) as SessionContent;
}

/** The session as the policy sees it. */
export function shownSession(
  { id, userId }: { id: string; userId: string },
  { tokens, identity }: SessionContent,
  more: Pick<VisitorSession, 'wasChecked' | 'usableUntil' | 'failure'>,
): VisitorSession {
  return { id, userId, ...identity, ...tokens, ...more };
}
