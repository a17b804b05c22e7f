// Targets of event destinations in the database. The secrets in them are encrypted, and bound to their row and their place in
// the target.

import type { Target } from '../../events/sinks/index.ts';
import { mapSecrets } from '../../events/sinks/secrets.ts';
import type { Keys } from '../keys/keys.ts';

/** The row of a destination. */
export interface TargetRow {
  id: string;
  accountId: string;
  target: unknown;
}

/** The target with its secrets encrypted, as it is stored. */
export function sealTarget(keys: Keys, row: TargetRow & { target: Target }): Target {
  return mapSecrets(row.target, (secret, { path }) => secret && keys.seal(secret, placeOf(row, path)));
}

/** The target with its secrets decrypted. It is for delivery only, never for a response of the API. */
export function openTarget(keys: Keys, row: TargetRow): Target {
  return mapSecrets(storedTarget(row), (secret, { path }) => secret && keys.open(secret, placeOf(row, path)));
}

/** As `openTarget`, but undefined when the secrets were sealed with a server key that this process does not have. */
export function openTargetIfReadable(keys: Keys, row: TargetRow): Target | undefined {
  try {
    return openTarget(keys, row);
  } catch {
    return undefined;
  }
}

/** The target without its secrets, as the API shows it. */
export function withoutSecrets(row: Pick<TargetRow, 'target'>): Target {
  return mapSecrets(storedTarget(row), () => null);
}

/** A target as it is stored, with its secrets sealed. */
export function storedTarget({ target }: Pick<TargetRow, 'target'>): Target {
  return target as Target; // Only `sealTarget` makes what is stored.
}

function placeOf({ id, accountId }: TargetRow, path: string): string {
  return `event_destination:${accountId}:${id}:${path}`;
}
