// Targets of event destinations as the database holds them: the secrets in them are encrypted, and bound to their row
// and their place in the target.

import type { Target } from '../../events/sinks/index.ts';
import { mapSecrets } from '../../events/sinks/secrets.ts';
import type { Keys } from '../keys/keys.ts';

/** What a stored target belongs to. */
export interface TargetRow {
  id: string;
  accountId: string;
  target: unknown;
}

/** The target as the database takes it. */
export function sealTarget(keys: Keys, row: TargetRow & { target: Target }): Target {
  return mapSecrets(row.target, (secret, { path }) => secret && keys.seal(secret, placeOf(row, path)));
}

/** The target with its secrets in clear: for whoever delivers to it, never for an answer. */
export function openTarget(keys: Keys, row: TargetRow): Target {
  return mapSecrets(storedTarget(row), (secret, { path }) => secret && keys.open(secret, placeOf(row, path)));
}

/** As `openTarget`; undefined when its secrets were sealed with a key that this process has not. */
export function openTargetIfReadable(keys: Keys, row: TargetRow): Target | undefined {
  try {
    return openTarget(keys, row);
  } catch {
    return undefined;
  }
}

/** The target as everybody may see it. */
export function withoutSecrets(row: Pick<TargetRow, 'target'>): Target {
  return mapSecrets(storedTarget(row), () => null);
}

/** A target as it was stored: its secrets are sealed. */
export function storedTarget({ target }: Pick<TargetRow, 'target'>): Target {
  return target as Target; // Only `sealTarget` makes what is stored.
}

function placeOf({ id, accountId }: TargetRow, path: string): string {
  return `event_destination:${accountId}:${id}:${path}`;
}
