// Entries of the audit trail in words.

import { kindOf, objectPath } from '../../data/routing/paths.ts';
import type { AuditEntryRowFragment } from '../../generated/operations.ts';

/** `SIGN_IN_FAILED` as `sign in failed`. Every action is named by its words, also those of later versions. */
export function actionWords(action: string): string {
  return action.toLowerCase().replaceAll('_', ' ');
}

const ABBREVIATIONS = /\b(acme|api|https|ip|tcp|tls)\b/g;

/** `httpsEdgeRoute` as `HTTPS edge route`. */
export function kindWords(kind: string): string {
  const words = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace(ABBREVIATIONS, (word) => word.toUpperCase());
}

const SOURCES: Record<AuditEntryRowFragment['source'], string> = {
  API: 'somebody with an API key',
  DASHBOARD: 'somebody at the sign-in',
  AGENT: 'an agent',
  GATEWAY: 'the gateway',
};

/** Who did it, as that one was called then. */
export function actorName({ actorId, actorSubject, source }: AuditEntryRowFragment): string {
  return actorSubject || actorId || SOURCES[source];
}

/** The same as a link where there is a page. */
export function Actor({ entry }: { entry: AuditEntryRowFragment }) {
  const { actorId } = entry;
  const kind = actorId === null ? undefined : kindOf(actorId);
  if (!actorId || !kind) return <span class="muted">{actorName(entry)}</span>;
  return <a href={objectPath(kind, actorId)}>{actorName(entry)}</a>;
}

/** What people call the object. */
export function objectTitle({ objectName, objectId, kind }: AuditEntryRowFragment): string {
  return objectName || objectId || kindWords(kind);
}

/** The object, as a link where its kind has pages. It may be gone. */
export function ObjectLink({ entry }: { entry: AuditEntryRowFragment }) {
  const { objectId } = entry;
  const kind = objectId === null ? undefined : kindOf(objectId);
  if (!objectId || !kind) return <>{objectTitle(entry)}</>;
  return <a href={objectPath(kind, objectId)}>{objectTitle(entry)}</a>;
}
